// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/impl/Backend.hpp>
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

constexpr std::size_t least_threads = 32, most_of_tile = 512, most_of_piece = 256;  // of a team

// A part of a copy by tiles; the last one may be too narrow for them.
void enqueue_part(Kokkos::Cuda const& instance, void* dst, void const* src, CopyPlan const& plan,
                  bool device_reads_host_memory) {
  auto const addresses =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src);
  if (suits_tiles(plan, addresses))
    enqueue_tiled_copy(instance, dst, src, plan, device_reads_host_memory);
  else
    copy_async(dst, src, plan, instance.cuda_stream());
}

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

namespace {

SlabCopies& slab_copies() {
  static SlabCopies* const copies = [] {
    auto* const made = new SlabCopies({copy_thresholds_in_use().least_slab_bytes,
                                       copy_thresholds_in_use().most_slab_bytes,
                                       copy_thresholds_in_use().most_slabs});
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

// The stream orders what uses the staging memory, which goes back to the pool as that list below.
void enqueue_staged_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                         CopyPlan const& plan, CopySides const& sides) {
  auto const parts =
      cut_for_staging(plan, sides.pageable_source, copy_thresholds_in_use().staging_bytes);
  Kokkos::View<char*, MappedSpace> const staging(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "deep_copy: staging"), parts.front().bytes);
  keep_for_replays(instance.cuda_stream(), staging.data(), nullptr);
  for (StagedPart const& part : parts) {
    char* const to         = static_cast<char*>(dst) + part.dst_offset;
    char const* const from = static_cast<char const*>(src) + part.src_offset;
    if (sides.pageable_source) {
      copy_async(staging.data(), from, part.to_staging, instance.cuda_stream());
      enqueue_part(instance, to, staging.data(), part.from_staging, true);
    } else {
      enqueue_part(instance, staging.data(), from, part.to_staging, sides.device_reads_host_memory);
      copy_async(to, staging.data(), part.from_staging, instance.cuda_stream());
    }
  }
}

// A long list goes back to the pool, which does not hand it out before the kernel is done.
void enqueue_pieces(Kokkos::Cuda const& instance, std::vector<CopyPiece> const& pieces) {
  if (pieces.empty()) return;
  std::size_t longest = 0;
  for (CopyPiece const& piece : pieces) longest = std::max(longest, piece.bytes);
  int const threads =
      int(std::clamp(std::bit_ceil(longest / sizeof(LongWord)), least_threads, most_of_piece));
  auto const fill = [&](PieceEnds* list) {
    for (CopyPiece const& piece : pieces) *list++ = {piece.dst, piece.src, piece.bytes};
  };
  if (pieces.size() <= FewPieces::most) {
    FewPieces few;
    fill(few.pieces);
    return run_piece_copy(instance, few, pieces.size(), longest, threads);
  }
  Kokkos::View<PieceEnds*, MappedSpace> const list(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "deep_copy_all: pieces"), pieces.size());
  fill(list.data());
  PieceEnds const* const begin = list.data();
  run_piece_copy(instance, begin, pieces.size(), longest, threads);
}

}  // namespace KokkosHostSpaces::Impl

#endif
