// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A graph uses the same addresses at each launch, long after the pool's rule (never reused before
// work that was submitted is done) says that they are free. So memory that a capture meets stays in
// use until the graph is destroyed.

#ifndef KOKKOS_HOST_SPACES_BACKEND_REPLAYS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_REPLAYS_HPP

#include "Driver.hpp"

#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// Memory of the pool which stays in use as long as this lives, whoever gives it back.
class ReplayedMemory {
 public:
  ReplayedMemory() = default;
  ~ReplayedMemory();
  ReplayedMemory(ReplayedMemory const&)            = delete;
  ReplayedMemory& operator=(ReplayedMemory const&) = delete;

  /// Adds the memory to which an address belongs; nothing if it is not the pool's. \throw
  /// std::bad_alloc
  void add(void const* pointer);
  bool empty() const noexcept { return m_kept.empty(); }

 private:
  std::vector<void*> m_kept;
};

/// While it lives, the memory of what this thread captures is added to `memory`, and is not the
/// captured graph's.
class ReplayedBy {
 public:
  explicit ReplayedBy(ReplayedMemory& memory) noexcept;
  ~ReplayedBy();
  ReplayedBy(ReplayedBy const&)            = delete;
  ReplayedBy& operator=(ReplayedBy const&) = delete;

 private:
  ReplayedMemory* m_before;
};

/// To be called before work that uses these addresses is enqueued. If `stream` captures, the graph
/// owns the pool's memory there as well; else nothing. \throw CudaError \throw std::bad_alloc
void retain_for_graph(Driver::Stream stream, void const* a, void const* b);

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
