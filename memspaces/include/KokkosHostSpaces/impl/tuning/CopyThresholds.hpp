// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The one table of thresholds by which copies are planned, measured on an H200 (PCIe 5 x16, CUDA
// 13.0). A file can override some of them.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_THRESHOLDS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_THRESHOLDS_HPP

#include <array>
#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl {

struct CopyThresholds {
  /// A kernel makes a copy that needs more calls of the copy engine than this: a call takes about 2
  /// us.
  std::size_t few_calls = 16;

  /// A kernel makes a copy of more planes than this: on an H200 the call for a 3-D copy of 65536 planes
  /// waited for the device. No wait was seen with 16384 planes.
  std::size_t most_planes = 16384;

  /// The copy engine reads runs of this length from the host as fast as a kernel does. Host to
  /// device, every other run of a buffer: 12 GB/s by the engine and 25 by a kernel for 16 bytes,
  /// both 27 for 64, 55 and 51 from 256 on. Device to host both are equal from 32 bytes on.
  std::size_t equal_run_bytes = 64;

  /// Shortest side of a tile, in bytes and in words: both sides of a transposition cross the link
  /// in whole lines (53 GB/s to the host; 22 by a kernel that writes element by element).
  std::size_t tile_line_bytes    = 128;
  std::size_t least_side_of_tile = 16;

  /// Words of a tile that is longer on one side, because the copy is short on the other.
  std::size_t words_beside_short_side = 1024;

  /// Bytes of staging memory for a copy of pageable memory, so that a copy of a large View does not
  /// page-lock the same amount again. With the pool's header the block has 64 MiB.
  std::size_t staging_bytes = (std::size_t(64) << 20) - (std::size_t(64) << 10);

  /// One kernel carries a batch of at least `least_number` pieces of at most `most_bytes` bytes. By
  /// one call of cuMemcpyBatchAsync and by kernel: 6 x 4 KiB 3.7 and 4.2 us, 8 x 4 KiB 8.1 and 4.7.
  struct Pieces {
    std::size_t least_number, most_bytes;  ///< ascending
  };
  std::array<Pieces, 2> by_kernel = {Pieces{8, 16384}, Pieces{16, 262144}};

  /// The least numbers of these where all pieces go from page-locked memory to a device.
  std::array<std::size_t, 2> least_to_device = {8, 24};

  /// This number of pieces goes by one call of cuMemcpyBatchAsync: 2 x 64 bytes take 2.7 us by it,
  /// 5.3 by single calls.
  std::size_t batch_pieces = 2;

  /// A batch of at least this number of pieces, all of equal length at equal distances, goes by one 2-D
  /// copy. 16 x 64 bytes: 2.7 us by that copy, 3.9 by kernel.
  std::size_t regular_pieces = 4;
};

/// The table as built in.
inline constexpr CopyThresholds copy_thresholds{};

/// Returns the table with the values of `text`, whose lines have the form "name value". Empty lines
/// and lines that begin with # are skipped.
///
/// \param file named in messages
/// \throw ConfigurationError with file, line, name and the allowed names, or the allowed values
CopyThresholds read_copy_thresholds(std::string const& text, std::string const& file);

/// Returns the thresholds of this process: the table, with the values of the file that
/// KOKKOS_HOST_SPACES_THRESHOLDS names. Reads the file once.
///
/// \throw ConfigurationError if the file cannot be read, or as read_copy_thresholds; at each call
CopyThresholds const& copy_thresholds_in_use();

}  // namespace KokkosHostSpaces::Impl

#endif
