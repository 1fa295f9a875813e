// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_CONTENTS_HPP
#define KOKKOS_HOST_SPACES_PERF_CONTENTS_HPP

#include "twins/Side.hpp"

namespace KokkosHostSpaces::Perf {

/// Fills the inputs of a side, and poisons everything that the operation has to write, copies on
/// the device included: a transfer or kernel that is left out, or does part of the elements, is
/// then seen.
void prepare(Side& side, Transport transport, Operation op, std::size_t elements);

/// Poisons the last element of the result.
void damage(Side& side, Transport transport, Operation op, std::size_t elements);

/// Number of elements of the result that are not exactly what they should be.
std::size_t count_wrong(Side& side, Transport transport, Operation op, std::size_t elements);

}  // namespace KokkosHostSpaces::Perf

#endif
