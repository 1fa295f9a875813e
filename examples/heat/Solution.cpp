// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Solution.hpp"

#include "Field.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace Heat {
namespace {

// Half waves along x, y and z: a broad pattern and one that is soon gone.
constexpr Kokkos::Array<Index3, 2> half_waves = {Index3{1, 2, 1}, Index3{5, 3, 3}};
constexpr double amplitude                    = 0.5;

double squared(double x) { return x * x; }

}  // namespace

Solution::Solution(Index3 cells)
    : m_width(1.0 / (cells[0] + 1)), m_time_step(mesh_ratio * squared(m_width)) {
  for (int mode = 0; mode < 2; ++mode)
    for (int axis = 0; axis < 3; ++axis)
      m_wave_numbers[mode][axis] = std::numbers::pi * half_waves[mode][axis] / (cells[axis] + 1);
}

Solution::Amplitudes Solution::exact(int steps) const {
  Amplitudes result{};
  for (int mode = 0; mode < 2; ++mode) {
    double rate = 0;  // of decay in a step
    for (double const k : m_wave_numbers[mode]) rate += mesh_ratio * squared(k);
    result[mode] = amplitude * std::exp(-rate * steps);
  }
  return result;
}

Solution::Amplitudes Solution::discrete(int steps) const {
  Amplitudes result{};
  for (int mode = 0; mode < 2; ++mode) {
    double factor = 1;  // of a step
    for (double const k : m_wave_numbers[mode]) factor -= mesh_ratio * squared(2 * std::sin(k / 2));
    result[mode] = amplitude * std::pow(factor, steps);
  }
  return result;
}

double Solution::discretisation_bound(int steps) const {
  double bound = 0;
  for (int mode = 0; mode < 2; ++mode) {
    double rate = 0, in_space = 0;
    for (double const k : m_wave_numbers[mode]) {
      rate += mesh_ratio * squared(k);
      in_space += mesh_ratio * squared(squared(k)) / 12;  // k^2 - (2 sin(k/2))^2 <= k^4 / 12
    }
    double const in_time = squared(rate) / 2;  // exp(-rate) - (1 - rate) <= rate^2 / 2
    bound += amplitude * steps * (in_time + in_space);
  }
  return bound;
}

// Seven roundings in a step, and some in the sines and powers of both sides.
double Solution::rounding_bound(int steps) {
  return (7.0 * steps + 100) * std::numeric_limits<double>::epsilon();
}

}  // namespace Heat
