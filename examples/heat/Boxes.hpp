// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_BOXES_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_BOXES_HPP

#include <Kokkos_Core.hpp>

namespace Heat {

using Index3 = Kokkos::Array<int, 3>;  ///< along x, y, z

/// Cells from `begin` to before `end`.
struct Box {
  Index3 begin, end;

  KOKKOS_FUNCTION int extent(int axis) const { return end[axis] - begin[axis]; }
  bool empty() const { return extent(0) == 0 || extent(1) == 0 || extent(2) == 0; }
};

/// Up to six boxes, such as the faces of a cube, with all their cells numbered through: so that one
/// kernel does them all.
class Boxes {
 public:
  void add(Box const& box) {
    m_boxes[m_count]       = box;
    m_offsets[m_count + 1] = m_offsets[m_count] + box.extent(0) * box.extent(1) * box.extent(2);
    ++m_count;
  }

  int size() const { return m_offsets[m_count]; }  ///< number of all cells
  int size(int box) const { return m_offsets[box + 1] - m_offsets[box]; }
  int offset(int box) const { return m_offsets[box]; }  ///< number of a box's first cell

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

}  // namespace Heat

#endif
