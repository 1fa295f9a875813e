// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_VERIFICATION_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_VERIFICATION_HPP

#include "Decomposition.hpp"
#include "Field.hpp"
#include "Processes.hpp"
#include "Solution.hpp"

#include <cstdint>

namespace Heat {

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

/// Sets own cells to the solution at the beginning. Waits.
void initialise(Field const& field, Decomposition const& decomposition, Solution const& solution);

/// All processes call it, and get the same. Waits.
Verification verify(Field const& field, Decomposition const& decomposition,
                    Solution const& solution, int steps, Processes const& processes);

}  // namespace Heat

#endif
