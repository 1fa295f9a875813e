// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Lifetime of memory that a captured graph uses at each launch.

#ifndef KOKKOS_HOST_SPACES_IMPL_REPLAYS_HPP
#define KOKKOS_HOST_SPACES_IMPL_REPLAYS_HPP

#include <functional>
#include <memory>

namespace KokkosHostSpaces::Impl {

/// Retains memory of this library at both addresses until the captured graph is destroyed, if
/// `stream` (a cudaStream_t) captures; else does nothing. Call it before enqueuing work that uses
/// the addresses.
///
/// \throw DeviceError
void retain_for_graph(void* stream, void const* a, void const* b);

/// Calls `capture`.
///
/// \return an owner of the memory that retain_for_graph is called for meanwhile, instead of the
///         captured graph
std::shared_ptr<void const> own_replayed_memory(std::function<void()> const& capture);

}  // namespace KokkosHostSpaces::Impl

#endif
