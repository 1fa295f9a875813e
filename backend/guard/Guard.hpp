// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_GUARD_HPP
#define KOKKOS_HOST_SPACES_BACKEND_GUARD_HPP

#include "../Config.hpp"
#include "../Driver.hpp"

#include <cstddef>
#include <string>

/// KOKKOS_HOST_SPACES_GUARD=on: host code that touches memory of the pool while an asynchronous copy
/// uses it is told of, on stderr, and goes on. The pages are protected until a host function behind
/// the copy takes that back; what the device does is not touched.
namespace KokkosHostSpaces::Impl::Backend::Guard {

/// One side of a copy.
struct Side {
  void const* begin;
  std::size_t bytes;  ///< without gaps; 0: it has some, and is not guarded
  std::string label;
};

inline bool is_on() { return config().guard; }

/// A copy was enqueued on `stream`: host code shall not write into `src`, nor touch `dst`, before it
/// is done. Does nothing for memory of others, and where a copy cannot be guarded says so once for
/// each label: memory of the driver, sides with gaps or without a whole page, streams that capture.
void watch(Side const& dst, Side const& src, Driver::Stream stream) noexcept;

/// Races that were reported so far.
std::size_t races() noexcept;

/// Copies that are watched now.
std::size_t watched() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Guard

#endif
