// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Large copies to a device that change the order of dimensions: slab by slab by memcpy to memory of
// the device, and turned there by a kernel while the next slab comes. The copy engine carries 55
// GB/s, a kernel that reads host memory in place 51. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_SLAB_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_SLAB_COPIES_HPP

#include <KokkosHostSpaces/impl/CopyPlan.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace KokkosHostSpaces::Impl {

/// Ranges of the loop with the longest steps in the source, each of which lies dense there.
struct Slabs {
  int loop            = 0;  ///< of the plan
  std::size_t at_once = 0;  ///< of its iterations
};

/// In slabs of `bytes` at most. Nothing if the source has gaps, or shares memory.
std::optional<Slabs> cut_into_slabs(CopyPlan const& plan, std::size_t bytes);

class SlabCopies {
 public:
  struct Limits {
    std::size_t least_slab, most_slab;  ///< bytes
    /// So many slabs of a copy: what is left goes in place, since a queue that is full would make
    /// the caller wait.
    std::size_t most_slabs;
  };
  enum class Source { device, host };
  /// Enqueues a part of the copy on the caller's stream.
  using Kernel =
      std::function<void(CopyPlan const& part, char* dst, char const* src, Source source)>;

  explicit SlabCopies(Limits const& limits);
  ~SlabCopies();
  SlabCopies(SlabCopies const&)            = delete;
  SlabCopies& operator=(SlabCopies const&) = delete;

  /// Enqueues the copy, from page-locked memory, on `stream`, of `device`, and on a stream of ours
  /// that it waits for. False, and nothing is done, while `stream` captures, where there is no
  /// memory, or while the memory serves other streams: no stream waits for another one's work.
  bool enqueue(int device, void* stream, CopyPlan const& plan, char* dst, char const* src,
               Kernel const& kernel);

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
  void run(Lane& lane, void* stream, CopyPlan const& plan, Slabs const& slabs, char* dst,
           char const* src, Kernel const& kernel) const;

  Limits m_limits;
  std::unique_ptr<OfDevice[]> m_devices;
};

}  // namespace KokkosHostSpaces::Impl

#endif
