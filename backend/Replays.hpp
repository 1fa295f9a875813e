// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory of captured graphs. A graph uses the same addresses at each launch, also after the work that
// was submitted before a deallocation, for which the pool waits, is done. So memory that is captured
// stays in use until the graph is destroyed.

#ifndef KOKKOS_HOST_SPACES_BACKEND_REPLAYS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_REPLAYS_HPP

#include "Driver.hpp"
#include "pool/Pool.hpp"

#include <map>
#include <span>

namespace KokkosHostSpaces::Impl::Backend {

/// Keeps memory of the pool in use, also after its deallocation, until this is destroyed.
class RetainedMemory {
 public:
  RetainedMemory() = default;
  ~RetainedMemory();
  RetainedMemory(RetainedMemory const&)            = delete;
  RetainedMemory& operator=(RetainedMemory const&) = delete;

  /// Adds the block that contains an address, once; ignores memory that is not the pool's.
  /// \throw std::bad_alloc
  void add(void const* pointer);
  std::size_t blocks() const noexcept { return m_kept.size(); }

 private:
  std::map<char const*, Pool::Kept> m_kept;  // by where they begin
};

/// While this lives, retain_for_graph in this thread adds to `memory`, not to the captured graph.
class ScopedRetention {
 public:
  explicit ScopedRetention(RetainedMemory& memory) noexcept;
  ~ScopedRetention();
  ScopedRetention(ScopedRetention const&)            = delete;
  ScopedRetention& operator=(ScopedRetention const&) = delete;

 private:
  RetainedMemory* m_before;
};

/// Makes the graph into which `stream` captures co-owner of the pool's memory at these addresses;
/// does nothing without a capture. Call it before you enqueue work that uses them, and once for all.
/// \throw DeviceError
/// \throw std::bad_alloc
void retain_for_graph(Driver::Stream stream, std::span<void const* const> addresses);
inline void retain_for_graph(Driver::Stream stream, void const* a, void const* b) {
  void const* const both[] = {a, b};
  retain_for_graph(stream, both);
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
