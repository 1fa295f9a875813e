// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The one table of figures by which copies are planned, with where they come from. H200: PCIe 5 x16,
// CUDA 13.0.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_THRESHOLDS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_THRESHOLDS_HPP

#include <cstddef>

namespace KokkosHostSpaces::Impl {

struct CopyThresholds {
  /// A copy that needs more calls than this is made by a kernel: each call takes some microseconds.
  std::size_t few_calls = 16;

  /// The copy engine reads runs of this length from the host as fast as a kernel. H200, 64 MiB,
  /// every other run of a pinned buffer, GB/s by cudaMemcpy2DAsync and by kernel: host to device
  /// 4.5 and 24 for runs of 8 bytes, 12 and 25 for 16, 25 and 27 for 32, equal at 64, 55 and 51
  /// from 256 on; device to host 6.4 and 4.0 for 8, 13 and 8 for 16, equal from 32 on.
  std::size_t equal_run_bytes = 64;

  /// Sides of a tile are so long at least: what crosses the link does so in whole lines, at the
  /// rate of the link (H200, doubles, 256 MiB transposed to the host: 53 GB/s by tiles of 256
  /// bytes, 22 by Kokkos' kernel, which writes element by element).
  std::size_t tile_line_bytes    = 128;
  std::size_t least_side_of_tile = 32;

  /// Pageable memory whose order of dimensions changes is staged in parts of at most so many bytes,
  /// so that a copy of a large View does not page-lock as much again. Chosen, not measured: each part
  /// costs the launch of a kernel and a wait, some 20 us, and takes some 5 ms.
  std::size_t staging_bytes = std::size_t(64) << 20;

  /// Pieces of a batch at most this long are carried by one kernel if there are so many: below 28
  /// KiB it wins from 128 pieces on against one call of cudaMemcpyBatchAsync
  /// (vllm-project/vllm#57555), which takes 0.5 us of the host for each piece, and the launch of a
  /// kernel 6 us; against single calls of more than 1 us each the kernel wins sooner.
  std::size_t kernel_piece_bytes = 32768;
  std::size_t kernel_pieces      = 16;

  /// So many pieces go by one call of cudaMemcpyBatchAsync: it costs as much as some single calls.
  std::size_t batch_pieces = 4;

  /// So many pieces of equal length and distance go by one 2-D copy; more where a kernel could carry
  /// them with all the others.
  std::size_t regular_pieces               = 4;
  std::size_t regular_pieces_not_by_kernel = 64;
};

inline constexpr CopyThresholds copy_thresholds{};

}  // namespace KokkosHostSpaces::Impl

#endif
