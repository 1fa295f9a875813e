// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_SOLUTION_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_SOLUTION_HPP

#include "Boxes.hpp"

#include <Kokkos_Core.hpp>

namespace Heat {

/// What the field must be: two products of sines, each decaying by itself.
///
/// The box is (n[axis] + 1) cell widths long along each axis, the edge along x being 1; on its
/// surface, half of the stencil's reach outside of the first and last cells, the temperature is 0.
/// The same products are eigenvectors of the 7-point stencil, so that the solution of the
/// discretised equation is known too: the program must have it up to rounding.
class Solution {
 public:
  explicit Solution(Index3 cells);

  double time_step() const { return m_time_step; }

  /// Amplitudes of the modes after `steps`: of the heat equation, and of its discretisation.
  using Amplitudes = Kokkos::Array<double, 2>;
  Amplitudes exact(int steps) const;
  Amplitudes discrete(int steps) const;

  /// Most that these can differ in any cell: the truncation error of a step, from Taylor's formula,
  /// times the number of steps, since no step makes an error larger.
  double discretisation_bound(int steps) const;

  /// Most that rounding can add: no step makes an error larger, and each adds a few roundings.
  static double rounding_bound(int steps);

  /// The sum of the modes in a cell, by global indices from 0.
  KOKKOS_FUNCTION double value(Amplitudes const& amplitudes, Index3 const& cell) const {
    double sum = 0;
    for (int mode = 0; mode < 2; ++mode) {
      double product = amplitudes[mode];
      for (int axis = 0; axis < 3; ++axis)
        product *= Kokkos::sin(m_wave_numbers[mode][axis] * (cell[axis] + 1));
      sum += product;
    }
    return sum;
  }

 private:
  double m_width;                                             ///< of a cell
  double m_time_step;                                         ///< with a conductivity of 1
  Kokkos::Array<Kokkos::Array<double, 3>, 2> m_wave_numbers;  ///< times m_width
};

}  // namespace Heat

#endif
