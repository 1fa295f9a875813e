// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Which arguments of streamed loops are the same memory, and what of that cannot work.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_ALIASES_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_ALIASES_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamBinding.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Label, extents, bytes and space, for messages.
std::string named(ArgumentFacts const& argument);

std::size_t bytes_of(ArgumentFacts const& argument);

/// The same View, or the same intermediate array.
bool same_memory(ArgumentFacts const& a, ArgumentFacts const& b);

/// \throw Error for memory that is written and overlaps with other arguments in a way that has no
/// meaning
void check_aliases(std::string const& label, std::vector<LoopFacts> const& loops);

}  // namespace KokkosHostSpaces::Impl

#endif
