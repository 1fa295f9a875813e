// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_GUARD_HPP
#define KOKKOS_HOST_SPACES_BACKEND_GUARD_HPP

#include "../Config.hpp"
#include "../Driver.hpp"

#include <cstddef>
#include <string>

/// A race detector for debugging, on with KOKKOS_HOST_SPACES_GUARD=on: reports on stderr host code
/// that touches memory of the pool while an asynchronous copy uses it; the program goes on. Protects
/// the pages until a host function behind the copy opens them; devices are not affected.
namespace KokkosHostSpaces::Impl::Backend::Guard {

/// One side of a copy.
struct Side {
  void const* begin;
  std::size_t bytes;  ///< without gaps; 0: has gaps and is not guarded
  std::string label;
};

inline bool is_on() { return config().guard; }

/// Guards a copy that was enqueued on `stream`: until it is done, reports host code that writes into
/// `src` or touches `dst`. Ignores memory that is not the pool's. Says once for each label if it
/// cannot guard a copy: memory of cudaHostAlloc, sides with gaps or without a whole page, streams
/// that capture.
void watch(Side const& dst, Side const& src, Driver::Stream stream) noexcept;

/// Number of races reported so far.
std::size_t races() noexcept;

/// Number of sides that are watched now.
std::size_t watched() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Guard

#endif
