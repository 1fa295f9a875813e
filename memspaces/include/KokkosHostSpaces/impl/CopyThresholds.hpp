// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The one table of figures by which copies are planned, with where they come from. H200: PCIe 5 x16,
// CUDA 13.0.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_THRESHOLDS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_THRESHOLDS_HPP

#include <array>
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

  /// Copies to a device of so many bytes, which tiles are for, go through its memory in slabs: by the
  /// copy engine, and tiles from there. H200, 16 and 256 MiB of doubles to the device in place 334
  /// and 5233 us, as one slab 323 and 4999; 1 MiB 25 us in place, and as much by the copy engine.
  std::size_t slabs_from_bytes = std::size_t(8) << 20;

  /// Bytes of a slab, and how many one copy has at most; a device keeps memory for two.
  std::size_t least_slab_bytes = std::size_t(2) << 20;
  std::size_t most_slab_bytes  = std::size_t(8) << 20;
  std::size_t most_slabs       = 128;

  /// So many pieces of a batch, and so short, are carried by one kernel: its launch takes 6 us, and
  /// each piece 0.04 us of the host. cudaMemcpyBatchAsync takes 3 us and 0.5 us for each, or as long
  /// as the link does if that is longer: H200, 16 pieces of 4 and 32 KiB to the device 9.3 and 14.0
  /// us, by kernel 6.8 and 17; 64 pieces of 32 KiB 61.7 and 54.3 us.
  struct Pieces {
    std::size_t least_number, most_bytes;
  };
  std::array<Pieces, 2> by_kernel = {Pieces{16, 8192}, Pieces{48, 32768}};

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
