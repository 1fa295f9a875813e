// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_DECOMPOSITION_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_DECOMPOSITION_HPP

#include "Boxes.hpp"
#include "Processes.hpp"

#include <vector>

namespace Heat {

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
  Box interior() const;      ///< own cells that need no ghost cell of a neighbour
  Boxes shell() const;       ///< the other own cells, each of them once
  Boxes to_send() const;     ///< own cells that each of neighbours() needs, in their order
  Boxes to_receive() const;  ///< and the ghost cells that they fill, in the same order

 private:
  Box face(Neighbour const& neighbour, bool ghost) const;

  Index3 m_global, m_processes, m_cells{}, m_origin{};
  std::vector<Neighbour> m_neighbours;
};

}  // namespace Heat

#endif
