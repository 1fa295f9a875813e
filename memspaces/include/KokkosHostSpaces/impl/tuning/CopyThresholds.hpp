// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The one table of figures by which copies are planned, with where they come from. H200: PCIe 5 x16,
// CUDA 13.0. Those that ThresholdFile.hpp lists can be measured on another machine.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_THRESHOLDS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_THRESHOLDS_HPP

#include <algorithm>
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

  /// Of planes (three dimensions), rows so long and not shorter than equal_run_bytes go by a kernel,
  /// if so many bytes do. H200, runs of 64 bytes, 1, 16 and 64 MiB: to the device 30.2, 416 and 1673
  /// us by cudaMemcpy3DAsync, 28.5, 393 and 1569 by a plain kernel, to the host 27.4, 402, 1552 and
  /// 25.7, 372, 1483; but 64 KiB 4.2 and 3.3 by that call, some 1 us more by a kernel. Of 256 MiB the
  /// call waits for the device.
  std::size_t most_run_of_planes_by_kernel = 64;
  std::size_t least_planes_by_kernel       = std::size_t(512) << 10;

  /// Sides of a tile are so long at least: what crosses the link does so in whole lines, at the
  /// rate of the link (H200, doubles, 256 MiB transposed to the host: 53 GB/s by tiles, 22 by Kokkos'
  /// kernel, which writes element by element). And no longer: 64 KiB and 1 MiB to the host by tiles
  /// of 16 x 16 doubles 3.6 and 22.7 us, of 32 x 32 4.0 and 23.0.
  std::size_t tile_line_bytes    = 128;
  std::size_t least_side_of_tile = 16;

  /// Words of a tile that is longer, because the other side is short.
  std::size_t words_beside_short_side = 1024;

  /// Pageable memory that few calls cannot carry is staged in boxes of at most so many bytes, so that
  /// a copy of a large View does not page-lock as much again. H200, 1 GiB of float to double and back:
  /// at once 149 to 160 and 135 to 154 ms, in boxes 135 to 156 and 90 to 94; of 4 to 32 MiB they gain
  /// nothing more, and some have no tiles. With what the pool keeps beside a block that is 64 MiB.
  std::size_t staging_bytes = (std::size_t(64) << 20) - (std::size_t(64) << 10);

  /// Copies to a device of so many bytes, which tiles are for, go through its memory in slabs: by the
  /// copy engine, and tiles from there. H200, 8, 16, 64 and 256 MiB of doubles in place 169, 332,
  /// 1311 and 5239 us; as slabs of 4 MiB 169, 325, 1264 and 5018, of 8 MiB -, 327, 1245 and 4943.
  std::size_t slabs_from_bytes = std::size_t(12) << 20;

  /// The same for copies to the host. H200, 64 MiB to 1 GiB: 1.01 to 1.02 of the best plain way.
  std::size_t slabs_to_host_from_bytes = std::size_t(32) << 20;

  /// An assumption: to the host they do not pay before they do on the way to the device.
  std::size_t slabs_from(bool to_host) const {
    return std::max(to_host ? slabs_to_host_from_bytes : 0, slabs_from_bytes);
  }

  /// Bytes of a slab, and how many one copy has at most; a device keeps memory for two.
  std::size_t least_slab_bytes = std::size_t(4) << 20;
  std::size_t most_slab_bytes  = std::size_t(8) << 20;
  std::size_t most_slabs       = 128;

  /// So many pieces of a batch, and so short, are carried by one kernel. H200, us to the device by
  /// one call of cuMemcpyBatchAsync and by kernel: 6 x 4 KiB 3.7 and 4.2, 8 x 4 KiB 8.1 and 4.7,
  /// 16 x 16 KiB 11.3 and 9.5, 16 x 32 KiB 14.5 and 14.8, 24 x 128 KiB 83 and 74, 64 x 256 KiB 360
  /// and 339, 128 x 256 KiB both 665. To the host alike, but for 16 x 256 KiB: to the device 94 and
  /// 96, to the host 96 and 91. While a host was slow: 16 x 32 KiB to the device 16.8 and 15.1.
  struct Pieces {
    std::size_t least_number, most_bytes;  ///< ascending
  };
  std::array<Pieces, 2> by_kernel = {Pieces{8, 16384}, Pieces{16, 262144}};

  /// The least numbers of these where all go from page-locked memory to a device (prepared ones, too,
  /// before Hopper), where the batch was prepared, so that the kernel is launched as a graph, and where
  /// both is so, from Hopper on: then up to 7, unless short, are a kernel that starts early. H200, us to
  /// the device and to the host by such a graph: 4 x 64 bytes 3.6 and 2.7, 4 x 4 KiB 4.2 and 3.0, 16 x 32 KiB
  /// 14.9 and 13.1; by one call 3.0 and 2.8, 3.1 and 2.9, 13.7 and 13.1, each of many in a row. On
  /// hosts that are slow for a while, that call takes 5.5 of 4 x 64 bytes, the kernel still 3.6.
  std::array<std::size_t, 2> least_to_device       = {8, 24};
  std::array<std::size_t, 2> least_again           = {2, 12};
  std::array<std::size_t, 2> least_again_to_device = {4, 24};

  /// So many pieces go by one call of cuMemcpyBatchAsync. H200, 2 x 64 bytes to the device: 2.7 us,
  /// and 5.3 by single calls.
  std::size_t batch_pieces = 2;

  /// A single piece of at most so many bytes goes to a device by that call, too. H200, 64 and 512
  /// bytes, many in a row: 1.6 us, and 2.6 by cudaMemcpyAsync; both 2.7 from 4 KiB on, and to the
  /// host. Where each is waited for it takes 0.4 us longer, of 7. Few prepared ones are a graph.
  std::size_t short_bytes = 512;

  /// So many pieces of equal length and distance go by one 2-D copy; more where a kernel could carry
  /// them with all the others. H200, many in a row, us to the device and to the host by that copy and
  /// by a kernel: 16 x 64 bytes 2.7 and 3.9, 1.8 and 3.9; 16 x 256 KiB 86 and 96, 88 and 92.
  std::size_t regular_pieces               = 4;
  std::size_t regular_pieces_not_by_kernel = 64;
};

/// As built in.
inline constexpr CopyThresholds copy_thresholds{};

/// Those that were measured on this machine, for Kokkos' default device, else the table's. Of the
/// library in ThisMachine.cpp; plans no copy itself.
CopyThresholds thresholds_of_this_machine() noexcept;

/// Asked for once, when the first copy is planned.
inline CopyThresholds const& copy_thresholds_in_use() {
  static CopyThresholds const found = thresholds_of_this_machine();
  return found;
}

}  // namespace KokkosHostSpaces::Impl

#endif
