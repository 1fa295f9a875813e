// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Device memory through which the blocks of a reduction hand over their parts.

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

/// Workspaces in device memory, zero before and after each kernel that uses them: one for each stream,
/// whose kernels run one after the other, and one for each captured kernel, since graphs may run at the
/// same time. The scratch memory of Kokkos does not do: Kokkos zeroes it on the legacy default stream,
/// which non-blocking streams do not wait for. A workspace is zero before its address is returned.
class ReductionWorkspaces {
 public:
  ReductionWorkspaces()                                      = default;
  ReductionWorkspaces(ReductionWorkspaces const&)            = delete;
  ReductionWorkspaces& operator=(ReductionWorkspaces const&) = delete;

  /// The workspace for the next kernel of `stream`. The per-thread default stream has one for each
  /// thread. The first call for a stream, and a call that needs more bytes, wait for a copy to the
  /// device, but not for `stream`. Smaller workspaces stay, since kernels may use them. If the stream
  /// captures, the workspace belongs to the graph until that is destroyed.
  /// \param bytes the least size
  /// \throw Error if the device has no memory left
  void* of(void* stream, int device, std::size_t bytes);

  /// Frees all workspaces except those of graphs. Waits for running kernels.
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
  std::map<Key, std::vector<Memory>> m_of_streams;  ///< in increasing size
  std::mutex m_spare_mutex;   ///< never held over a call of the runtime, whose threads take it, too
  std::list<Memory> m_spare;  ///< of graphs that were destroyed
};

/// A workspace of the process, which frees them when Kokkos is finalized.
void* reduction_workspace(void* stream, int device, std::size_t bytes);

}  // namespace KokkosHostSpaces::Impl

#endif
