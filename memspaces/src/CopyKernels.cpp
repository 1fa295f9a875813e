// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/impl/CopyKernels.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/PieceCopy.hpp>
#include <KokkosHostSpaces/impl/SlabCopies.hpp>

#ifdef KOKKOS_ENABLE_CUDA

#include <algorithm>
#include <bit>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t least_threads = 32, most_threads = 256;  // of a team

}  // namespace

void enqueue_tiled_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                        CopyPlan const& plan, bool device_reads_host_memory) {
  auto const addresses =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src);
  Tiling const tiling = *make_tiling(plan, addresses, !device_reads_host_memory);
  // Of tiny tiles, as 3 x 3 tensors have, the more are on their way at once.
  std::size_t const threads = std::clamp(
      std::bit_ceil(std::size_t(tiling.side_dst) * tiling.side_src), least_threads, most_threads);
  run_tiled_copy(instance, tiling, dst, src, int(threads));
}

namespace {

SlabCopies& slab_copies() {
  static SlabCopies* const copies = [] {
    auto* const made =
        new SlabCopies({copy_thresholds.least_slab_bytes, copy_thresholds.most_slab_bytes,
                        copy_thresholds.most_slabs});
    Kokkos::push_finalize_hook([made] { made->release(); });
    return made;
  }();
  return *copies;
}

}  // namespace

void enqueue_slab_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                       CopyPlan const& plan) {
  bool const is_done = slab_copies().enqueue(
      instance.cuda_device(), instance.cuda_stream(), plan, static_cast<char*>(dst),
      static_cast<char const*>(src),
      [&](CopyPlan const& part, char* to, char const* from, SlabCopies::Source source) {
        enqueue_tiled_copy(instance, to, from, part, source == SlabCopies::Source::host);
      });
  if (!is_done) enqueue_tiled_copy(instance, dst, src, plan, true);
}

// The list goes back to the pool, which does not hand it out before the kernel is done.
void enqueue_pieces(Kokkos::Cuda const& instance, std::vector<CopyPiece> const& pieces) {
  if (pieces.empty()) return;
  Kokkos::View<CopyPiece*, MappedSpace> const list(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "deep_copy_all: pieces"), pieces.size());
  std::size_t longest = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    list(i) = pieces[i];
    longest = std::max(longest, pieces[i].bytes);
  }
  std::size_t const threads =
      std::clamp(std::bit_ceil(longest / sizeof(LongWord)), least_threads, most_threads);
  run_piece_copy(instance, list.data(), list.size(), longest, int(threads));
}

}  // namespace KokkosHostSpaces::Impl

#endif
