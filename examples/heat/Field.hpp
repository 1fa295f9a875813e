// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The part of the grid that a process has, its field, the stencil, and the execution space instances.

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_FIELD_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_FIELD_HPP

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace Heat {

using Index3 = Kokkos::Array<int, 3>;  ///< along x, y, z

/// Cells from `begin` to before `end`.
struct Box {
  Index3 begin, end;

  KOKKOS_FUNCTION int extent(int axis) const { return end[axis] - begin[axis]; }
  int size() const { return extent(0) * extent(1) * extent(2); }
  bool empty() const { return extent(0) == 0 || extent(1) == 0 || extent(2) == 0; }
};

/// Up to six boxes, such as the faces of a cube, with all their cells numbered through: so that one
/// kernel does them all.
class Boxes {
 public:
  void add(Box const& box) {
    m_boxes[m_count]       = box;
    m_offsets[m_count + 1] = m_offsets[m_count] + box.size();
    ++m_count;
  }

  int size() const { return m_offsets[m_count]; }  ///< number of all cells

  /// Where the cell with a number is.
  KOKKOS_FUNCTION Index3 cell(int number) const {
    int box = 0;
    while (number >= m_offsets[box + 1]) ++box;
    Box const& in   = m_boxes[box];
    int const local = number - m_offsets[box];
    int const row   = local / in.extent(0);
    return {in.begin[0] + local % in.extent(0), in.begin[1] + row % in.extent(1),
            in.begin[2] + row / in.extent(1)};
  }

 private:
  int m_count = 0;
  Kokkos::Array<Box, 6> m_boxes{};
  Kokkos::Array<int, 7> m_offsets{};
};

/// A neighbour, and the face of this process's part that it adjoins: side 0 looks to lower
/// coordinates.
struct Neighbour {
  int rank, axis, side;
};

/// Which cells of the whole grid belong to this process, and which of them touch those of others.
///
/// Local indices include one layer of ghost cells: this process's own are 1 to cells()[axis].
class Decomposition {
 public:
  /// Of a grid of `global` cells over `processes` along the axes, as seen by `rank`.
  /// \throw std::invalid_argument if a process had fewer than two cells along an axis
  Decomposition(Index3 global, Index3 processes, int rank);

  Index3 global() const { return m_global; }
  Index3 processes() const { return m_processes; }
  Index3 cells() const { return m_cells; }
  Index3 origin() const { return m_origin; }  ///< global indices of the first own cell
  std::vector<Neighbour> const& neighbours() const { return m_neighbours; }

  Box own() const { return {{1, 1, 1}, {m_cells[0] + 1, m_cells[1] + 1, m_cells[2] + 1}}; }
  Box interior() const;  ///< own cells that need no ghost cell of a neighbour
  Boxes shell() const;   ///< the other own cells, each of them once
  /// Own cells that a neighbour needs, or the ghost cells that it fills.
  Box face(Neighbour const& neighbour, bool ghost) const;
  int cells_to_send() const;

 private:
  Index3 m_global, m_processes, m_cells{}, m_origin{};
  std::vector<Neighbour> m_neighbours;
};

// The first cell of a part; parts differ by at most one cell.
inline int part_begin(int cells, int parts, int part) {
  return static_cast<int>(static_cast<long long>(cells) * part / parts);
}

inline Decomposition::Decomposition(Index3 global, Index3 processes, int rank)
    : m_global(global), m_processes(processes) {
  Index3 const stride = {1, processes[0], processes[0] * processes[1]};
  for (int axis = 0; axis < 3; ++axis) {
    int const position = rank / stride[axis] % processes[axis];
    m_origin[axis]     = part_begin(global[axis], processes[axis], position);
    m_cells[axis]      = part_begin(global[axis], processes[axis], position + 1) - m_origin[axis];
    if (global[axis] / processes[axis] < 2)
      throw std::invalid_argument("axis " + std::string(1, "xyz"[axis]) + " has " +
                                  std::to_string(global[axis]) + " cells for " +
                                  std::to_string(processes[axis]) +
                                  " processes (each needs two): use more cells, or --grid");
    if (position > 0) m_neighbours.push_back({rank - stride[axis], axis, 0});
    if (position + 1 < processes[axis]) m_neighbours.push_back({rank + stride[axis], axis, 1});
  }
}

inline Box Decomposition::interior() const {
  Box box = own();
  for (auto const& [rank, axis, side] : m_neighbours) {
    if (side == 0)
      ++box.begin[axis];
    else
      --box.end[axis];
  }
  return box;
}

// Peels layer after layer off, so that edges and corners come with the first face only.
inline Boxes Decomposition::shell() const {
  Boxes layers;
  Box rest = own();
  for (auto const& [rank, axis, side] : m_neighbours) {
    Box layer = rest;
    if (side == 0)
      layer.end[axis] = ++rest.begin[axis];
    else
      layer.begin[axis] = --rest.end[axis];
    layers.add(layer);
  }
  return layers;
}

inline Box Decomposition::face(Neighbour const& neighbour, bool ghost) const {
  Box box                       = own();
  int const outwards            = ghost ? 1 : 0;
  auto const [rank, axis, side] = neighbour;
  box.begin[axis]               = side == 0 ? 1 - outwards : m_cells[axis] + outwards;
  box.end[axis]                 = box.begin[axis] + 1;
  return box;
}

inline int Decomposition::cells_to_send() const {
  int cells = 0;
  for (Neighbour const& neighbour : m_neighbours) cells += face(neighbour, false).size();
  return cells;
}

using Device = Kokkos::DefaultExecutionSpace;

/// Temperature of each cell (x, y, z), ghost cells included, in the device's own memory.
using Field = Kokkos::View<double***, Kokkos::LayoutLeft, Device::memory_space>;

/// Time step over square of the cell width; up to 1/6 is stable. A power of two, so that the
/// products in euler() are exact: its value does not depend on who computes a cell, in which
/// kernel, and whether with fused multiply-add.
inline constexpr double mesh_ratio = 0.125;

/// One step of the explicit Euler method with the 7-point stencil.
KOKKOS_INLINE_FUNCTION double euler(Field const& u, int x, int y, int z) {
  double const neighbours =
      ((u(x - 1, y, z) + u(x + 1, y, z)) + (u(x, y - 1, z) + u(x, y + 1, z))) +
      (u(x, y, z - 1) + u(x, y, z + 1));
  return (1 - 6 * mesh_ratio) * u(x, y, z) + mesh_ratio * neighbours;
}

/// Loops over a box, neighbours in x beside each other; on a GPU in tiles that share the cells of
/// the stencil in the cache.
inline auto box_policy(Device const& instance, Box const& box) {
  using Policy =
      Kokkos::MDRangePolicy<Device, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                            Kokkos::IndexType<int>>;
  typename Policy::point_type begin, end;
  for (int axis = 0; axis < 3; ++axis) {
    begin[axis] = box.begin[axis];
    end[axis]   = box.end[axis];
  }
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Device::memory_space>::accessible)
    return Policy(instance, begin, end);
  else
    return Policy(instance, begin, end, {32, 4, 4});
}

/// Sets `after` in the cells of `box` to the step that follows `before`. Asynchronous.
inline void update(Device const& instance, Field after, Field before, Box const& box) {
  if (box.empty()) return;
  Kokkos::parallel_for(
      "heat: update interior", box_policy(instance, box),
      KOKKOS_LAMBDA(int x, int y, int z) { after(x, y, z) = euler(before, x, y, z); });
}

/// The same for several thin boxes, by one kernel.
inline void update(Device const& instance, Field after, Field before, Boxes const& boxes) {
  Kokkos::parallel_for(
      "heat: update shell", Kokkos::RangePolicy(instance, 0, boxes.size()), KOKKOS_LAMBDA(int i) {
        auto const [x, y, z] = boxes.cell(i);
        after(x, y, z)       = euler(before, x, y, z);
      });
}

/// Two execution space instances that work beside each other.
struct Instances {
  Device bulk, halo;
};

inline Instances make_instances() {
  auto const parts = Kokkos::Experimental::partition_space(Device(), 1, 1);
  return {parts[0], parts[1]};
}

}  // namespace Heat

#endif
