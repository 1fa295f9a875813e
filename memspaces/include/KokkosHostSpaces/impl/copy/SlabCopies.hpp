// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Large copies over the link that change the order of dimensions: slab by slab by memcpy, and turned
// within the device by a kernel, while the next slab comes or the one before goes. The copy engine
// carries 55 GB/s, a kernel that works on host memory in place 51 to 53. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_SLAB_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_SLAB_COPIES_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace KokkosHostSpaces::Impl {

/// Ranges of the loop with the longest steps on the host, each of which lies dense there.
struct Slabs {
  int loop            = 0;  ///< of the plan
  std::size_t at_once = 0;  ///< of its iterations
};

/// In slabs of `bytes` at most. Nothing if the side on the host has gaps, or shares memory.
std::optional<Slabs> cut_into_slabs(CopyPlan const& plan, LinkWay way, std::size_t bytes);

class SlabCopies {
 public:
  struct Limits {
    std::size_t least_slab, most_slab;  ///< bytes
    /// So many slabs of a copy: what is left goes in place, since a queue that is full would make
    /// the caller wait.
    std::size_t most_slabs;
  };
  enum class Kernels { stay_on_the_device, cross_the_link };
  /// Enqueues a part of the copy on the caller's stream.
  using Kernel =
      std::function<void(CopyPlan const& part, char* dst, char const* src, Kernels kernels)>;

  explicit SlabCopies(Limits const& limits);
  ~SlabCopies();
  SlabCopies(SlabCopies const&)            = delete;
  SlabCopies& operator=(SlabCopies const&) = delete;

  /// Enqueues the copy, between page-locked memory and that of `device`, on `stream`, and on a
  /// stream of ours that it waits for. False, and nothing is done, while `stream` captures, where
  /// there is no memory, or while the memory serves other streams: no stream waits for another
  /// one's work.
  bool enqueue(int device, void* stream, LinkWay way, CopyPlan const& plan, char* dst,
               char const* src, Kernel const& kernel);

  /// Waits for the copies, and gives the memory of devices back: two slabs of each.
  void release();

 private:
  struct Lane;
  struct OfDevice {
    std::mutex mutex;
    std::unique_ptr<Lane> lane;
    void* last_stream = nullptr;
    bool has_none     = false;  ///< no memory: not asked for again before release
  };
  bool is_ready(OfDevice& own, int device, void* stream) const;
  struct Work;
  void run(Lane& lane, void* stream, Work const& work) const;
  void enqueue_slab(Lane& lane, void* stream, Work const& work, CopyPlan const& part, std::size_t n,
                    char* dst, char const* src) const;

  Limits m_limits;
  std::unique_ptr<OfDevice[]> m_devices;
};

}  // namespace KokkosHostSpaces::Impl

#endif
