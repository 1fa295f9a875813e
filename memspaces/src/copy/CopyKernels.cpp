// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/copy/CopyKernels.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/copy/TiledCopy.hpp>
#include <KokkosHostSpaces/impl/copy/RowCopy.hpp>
#include <KokkosHostSpaces/impl/copy/SlabCopies.hpp>

#ifdef KOKKOS_ENABLE_CUDA

#include <algorithm>
#include <bit>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t least_threads = 32, most_of_tile = 512;  // of a team

}  // namespace

void enqueue_tiled_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                        CopyPlan const& plan, bool device_reads_host_memory) {
  auto const addresses =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src);
  Tiling const tiling = *make_tiling(plan, addresses, !device_reads_host_memory);
  // Of tiny tiles, as 3 x 3 tensors have, the more are on their way at once.
  std::size_t const words = std::size_t(tiling.side_dst) * tiling.side_src;
  std::size_t const threads =
      std::clamp(std::bit_ceil(words / loads_at_once(tiling.word)), least_threads, most_of_tile);
  run_tiled_copy(instance, tiling, dst, src, int(threads));
}

void enqueue_row_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                      CopyPlan const& plan) {
  run_row_copy(instance, RowCopy(dst, src, plan));
}

namespace {

SlabCopies& slab_copies() {
  static SlabCopies* const copies = [] {
    auto* const made = new SlabCopies({copy_thresholds_in_use().least_slab_bytes,
                                       copy_thresholds_in_use().most_slab_bytes,
                                       copy_thresholds_in_use().most_slabs});
    at_finalize([made] { made->release(); });
    return made;
  }();
  return *copies;
}

}  // namespace

void enqueue_slab_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                       CopyPlan const& plan, LinkWay way) {
  bool const reads_host = way == LinkWay::to_device;
  bool const is_done    = slab_copies().enqueue(
         instance.cuda_device(), instance.cuda_stream(), way, plan, static_cast<char*>(dst),
         static_cast<char const*>(src),
         [&](CopyPlan const& part, char* to, char const* from, SlabCopies::Kernels kernels) {
        enqueue_tiled_copy(instance, to, from, part,
                              reads_host && kernels == SlabCopies::Kernels::cross_the_link);
      });
  if (!is_done) enqueue_tiled_copy(instance, dst, src, plan, reads_host);
}

}  // namespace KokkosHostSpaces::Impl

#endif
