// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Verification.hpp"

namespace Heat {
namespace {

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
double largest_difference(Device const& instance, Field const& field,
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

std::uint64_t checksum_of(Device const& instance, Field const& field,
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

}  // namespace

void initialise(Field const& field, Decomposition const& decomposition, Solution const& solution) {
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

Verification verify(Field const& field, Decomposition const& decomposition,
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
