// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Decomposition.hpp"

#include <stdexcept>
#include <string>

namespace Heat {
namespace {

// The first cell of a part; parts differ by at most one cell.
int part_begin(int cells, int parts, int part) {
  return static_cast<int>(static_cast<long long>(cells) * part / parts);
}

}  // namespace

Decomposition::Decomposition(Index3 global, Index3 processes, int rank)
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

Box Decomposition::interior() const {
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
Boxes Decomposition::shell() const {
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

Box Decomposition::face(Neighbour const& neighbour, bool ghost) const {
  Box box                       = own();
  int const outwards            = ghost ? 1 : 0;
  auto const [rank, axis, side] = neighbour;
  box.begin[axis]               = side == 0 ? 1 - outwards : m_cells[axis] + outwards;
  box.end[axis]                 = box.begin[axis] + 1;
  return box;
}

Boxes Decomposition::to_send() const {
  Boxes faces;
  for (Neighbour const& neighbour : m_neighbours) faces.add(face(neighbour, false));
  return faces;
}

Boxes Decomposition::to_receive() const {
  Boxes faces;
  for (Neighbour const& neighbour : m_neighbours) faces.add(face(neighbour, true));
  return faces;
}

}  // namespace Heat
