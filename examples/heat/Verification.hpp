// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the field must be, and whether it is.

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_VERIFICATION_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_VERIFICATION_HPP

#include "Field.hpp"
#include "Processes.hpp"
#include "Ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace Heat {

/// What the field must be: two products of sines, each decaying by itself.
///
/// The box is (n[axis] + 1) cell widths long along each axis, the edge along x being 1; on its
/// surface, half of the stencil's reach outside of the first and last cells, the temperature is 0.
/// The same products are eigenvectors of the 7-point stencil, so that the solution of the
/// discretised equation is known too: the program must have it up to rounding.
class Solution {
 public:
  /// \param sines of make_sines(cells), which outlives this object
  Solution(Index3 cells, TableView sines);

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
      for (int axis = 0; axis < 3; ++axis) product *= m_sines(cell[axis], axis, mode);
      sum += product;
    }
    return sum;
  }

 private:
  double m_width;                                             ///< of a cell
  double m_time_step;                                         ///< with a conductivity of 1
  Kokkos::Array<Kokkos::Array<double, 3>, 2> m_wave_numbers;  ///< times m_width
  TableView m_sines;                                          ///< of cell, axis, mode
};

// Half waves along x, y and z: a broad pattern and one that is soon gone.
inline constexpr Kokkos::Array<Index3, 2> half_waves = {Index3{1, 2, 1}, Index3{5, 3, 3}};
inline constexpr double amplitude                    = 0.5;

inline double squared(double x) { return x * x; }

inline double wave_number(Index3 cells, int mode, int axis) {
  return std::numbers::pi * half_waves[mode][axis] / (cells[axis] + 1);
}

/// Sines of the modes in the cells along each axis: (cell, axis, mode). The processes of a node share it.
inline Table make_sines(Index3 cells) {
  return Table("sines of the modes", {std::max({cells[0], cells[1], cells[2]}), 3, 2},
               [&](auto const& sines) {
                 for (int mode = 0; mode < 2; ++mode)
                   for (int axis = 0; axis < 3; ++axis)
                     for (int cell = 0; cell < cells[axis]; ++cell)
                       sines(cell, axis, mode) =
                           std::sin(wave_number(cells, mode, axis) * (cell + 1));
               });
}

inline Solution::Solution(Index3 cells, TableView sines)
    : m_width(1.0 / (cells[0] + 1)), m_time_step(mesh_ratio * squared(m_width)), m_sines(sines) {
  for (int mode = 0; mode < 2; ++mode)
    for (int axis = 0; axis < 3; ++axis)
      m_wave_numbers[mode][axis] = wave_number(cells, mode, axis);
}

inline Solution::Amplitudes Solution::exact(int steps) const {
  Amplitudes result{};
  for (int mode = 0; mode < 2; ++mode) {
    double rate = 0;  // of decay in a step
    for (double const k : m_wave_numbers[mode]) rate += mesh_ratio * squared(k);
    result[mode] = amplitude * std::exp(-rate * steps);
  }
  return result;
}

inline Solution::Amplitudes Solution::discrete(int steps) const {
  Amplitudes result{};
  for (int mode = 0; mode < 2; ++mode) {
    double factor = 1;  // of a step
    for (double const k : m_wave_numbers[mode]) factor -= mesh_ratio * squared(2 * std::sin(k / 2));
    result[mode] = amplitude * std::pow(factor, steps);
  }
  return result;
}

inline double Solution::discretisation_bound(int steps) const {
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
inline double Solution::rounding_bound(int steps) {
  return (7.0 * steps + 100) * std::numeric_limits<double>::epsilon();
}

/// The whole field against what it must be.
struct Verification {
  double discrete_error, discrete_bound;  ///< largest, against the solution of the discretisation
  double exact_error, exact_bound;        ///< largest, against that of the heat equation
  std::uint64_t checksum;  ///< of all bits, the same for each decomposition if the bits are

  bool passed() const {
    // Not the other way round: an error that is not a number must not pass.
    return discrete_error <= discrete_bound && exact_error <= exact_bound;
  }
};

KOKKOS_INLINE_FUNCTION Index3 global_index(Index3 const& origin, int x, int y, int z) {
  return {origin[0] + x - 1, origin[1] + y - 1, origin[2] + z - 1};
}

// Scatters the bits of a value in a way that depends on its place (the finaliser of SplitMix64), so
// that a sum over cells tells whether values were exchanged.
KOKKOS_INLINE_FUNCTION std::uint64_t scatter_bits(double value, std::uint64_t place) {
  std::uint64_t x = Kokkos::bit_cast<std::uint64_t>(value) + place * 0x9e3779b97f4a7c15u;
  x               = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x               = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Largest difference in own cells; infinity where there is a difference that is no number.
inline double largest_difference(Device const& instance, Field const& field,
                                 Decomposition const& decomposition, Solution const& solution,
                                 Solution::Amplitudes amplitudes) {
  Index3 const origin = decomposition.origin();
  double largest      = 0;
  Kokkos::parallel_reduce(
      "heat: largest difference", box_policy(instance, decomposition.own()),
      KOKKOS_LAMBDA(int x, int y, int z, double& maximum) {
        double const difference =
            Kokkos::abs(field(x, y, z) - solution.value(amplitudes, global_index(origin, x, y, z)));
        if (!(difference <= maximum))
          maximum =
              Kokkos::isnan(difference) ? Kokkos::Experimental::infinity_v<double> : difference;
      },
      Kokkos::Max<double>(largest));
  return largest;
}

inline std::uint64_t checksum_of(Device const& instance, Field const& field,
                                 Decomposition const& decomposition) {
  Index3 const origin = decomposition.origin(), global = decomposition.global();
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce(
      "heat: checksum", box_policy(instance, decomposition.own()),
      KOKKOS_LAMBDA(int x, int y, int z, std::uint64_t& partial) {
        Index3 const at = global_index(origin, x, y, z);
        partial += scatter_bits(
            field(x, y, z),
            (std::uint64_t(at[2]) * global[1] + std::uint64_t(at[1])) * global[0] + at[0]);
      },
      sum);
  return sum;
}

/// Sets own cells to the solution at the beginning. Waits.
inline void initialise(Field const& field, Decomposition const& decomposition,
                       Solution const& solution) {
  Device const instance;
  Index3 const origin                   = decomposition.origin();
  Solution::Amplitudes const amplitudes = solution.exact(0);
  Kokkos::parallel_for(
      "heat: initialise", box_policy(instance, decomposition.own()),
      KOKKOS_LAMBDA(int x, int y, int z) {
        field(x, y, z) = solution.value(amplitudes, global_index(origin, x, y, z));
      });
  instance.fence("heat: the field is initialised");
}

/// All processes call it, and get the same. Waits.
inline Verification verify(Field const& field, Decomposition const& decomposition,
                           Solution const& solution, int steps, Processes const& processes) {
  Device const instance;
  Verification result{};
  result.discrete_error = processes.maximum(
      largest_difference(instance, field, decomposition, solution, solution.discrete(steps)));
  result.exact_error = processes.maximum(
      largest_difference(instance, field, decomposition, solution, solution.exact(steps)));
  result.discrete_bound = Solution::rounding_bound(steps);
  result.exact_bound    = solution.discretisation_bound(steps) + result.discrete_bound;
  result.checksum       = processes.sum(checksum_of(instance, field, decomposition));
  return result;
}

}  // namespace Heat

#endif
