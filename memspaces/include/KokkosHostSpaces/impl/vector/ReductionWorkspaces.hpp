// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_REDUCTION_WORKSPACES_HPP
#define KOKKOS_HOST_SPACES_IMPL_REDUCTION_WORKSPACES_HPP

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Memory of devices for the parts of reductions, zero before each kernel that uses it, and again
/// after it: one for each stream, whose kernels come one after the other, and for each kernel that is
/// captured, since graphs may run at the same time. Kokkos fills that of an instance on the legacy
/// default stream, for which other streams need not wait, so that parts could be erased which the
/// kernel waits for; this is zero when its address is known.
class ReductionWorkspaces {
 public:
  ReductionWorkspaces();
  ReductionWorkspaces(ReductionWorkspaces const&)            = delete;
  ReductionWorkspaces& operator=(ReductionWorkspaces const&) = delete;

  /// At least `bytes` bytes for the next kernel of `stream`, of `device`. A stream that is another one
  /// in each thread has one for each. The first call for a stream, and one that needs more, wait for a
  /// copy to the device, but not for `stream`. What was smaller stays: kernels may use it. If the
  /// stream captures, the memory is of the graph until that is destroyed.
  /// \throw Error if the device has no memory left
  void* of(void* stream, int device, std::size_t bytes);

  /// Gives all of it back but what graphs have; waits for kernels that run.
  void clear() noexcept;

 private:
  struct Memory {
    int device;
    std::shared_ptr<void> zeros;
    std::size_t bytes;
  };
  using Key = std::tuple<void*, int, std::uint64_t>;  ///< a stream, its device, and a thread or 0
  struct OfGraph;

  static Memory make(int device, std::size_t bytes);
  void* of_capture(void* stream, int device, std::size_t bytes);
  std::list<Memory> take_spare(int device, std::size_t bytes);

  std::mutex m_mutex;
  std::uint64_t m_state;  ///< no other object has it, nor had this one before it was cleared
  std::map<Key, std::vector<Memory>> m_of_streams;  ///< the larger the later
  std::mutex
      m_spare_mutex;  ///< of its own: graphs end in threads where CUDA must not be waited for
  std::list<Memory> m_spare;  ///< of graphs that are gone
};

/// Those of all threads, until Kokkos is finalized.
void* reduction_workspace(void* stream, int device, std::size_t bytes);

}  // namespace KokkosHostSpaces::Impl

#endif
