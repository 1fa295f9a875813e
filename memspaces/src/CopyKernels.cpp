// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/impl/Backend.hpp>
#include <KokkosHostSpaces/impl/CopyKernels.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/PieceCopy.hpp>

#ifdef KOKKOS_ENABLE_CUDA

#include <algorithm>
#include <bit>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t least_threads = 32, most_threads = 256;  // of a team

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
  std::size_t const threads = std::clamp(
      std::bit_ceil(std::size_t(tiling.side_dst) * tiling.side_src), least_threads, most_threads);
  run_tiled_copy(instance, tiling, dst, src, int(threads));
}

// The stream orders what uses the staging memory, which goes back to the pool as that list below.
void enqueue_staged_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                         CopyPlan const& plan, CopySides const& sides) {
  auto const parts = cut_for_staging(plan, sides.pageable_source, copy_thresholds.staging_bytes);
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
  run_piece_copy(instance, list.data(), list.size(), int(threads));
}

}  // namespace KokkosHostSpaces::Impl

#endif
