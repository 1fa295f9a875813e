// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_PLAN_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_PLAN_HPP

#include <array>
#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// A copy between two strided arrays of the same shape as a loop nest over contiguous runs of
/// bytes. Loop 0 is the innermost. Extents of one are gone, and loops that both sides walk without
/// a gap are merged, so that a contiguous copy has no loops and a sub-matrix has one.
struct CopyPlan {
  static constexpr int max_loops = 8;

  std::size_t run_bytes = 0;  ///< 0: there is nothing to copy
  int loops             = 0;
  std::array<std::size_t, max_loops> extent{};      ///< iterations of each loop
  std::array<std::size_t, max_loops> dst_stride{};  ///< bytes
  std::array<std::size_t, max_loops> src_stride{};  ///< bytes

  bool contiguous() const { return loops == 0; }

  /// Number of copies that the copy engine needs: 3-D ones where both sides have planes a whole
  /// number of rows apart, else 2-D ones; one for each run where runs overlap.
  std::size_t engine_calls() const;

  /// Can the copy engine do it in few calls? Not if a side walks its runs with a stride smaller
  /// than the run.
  bool suits_copy_engine() const;

 private:
  bool overlaps(int loop) const {
    return dst_stride[loop] < run_bytes || src_stride[loop] < run_bytes;
  }
};

/// Strides are in elements of `element_bytes` bytes, dimension by dimension.
CopyPlan make_copy_plan(std::size_t element_bytes, int rank, std::size_t const* extents,
                        std::size_t const* dst_strides, std::size_t const* src_strides);

/// Shall pageable memory be staged with its gaps, as one piece, and not by `plan`, run by run? If
/// that takes many calls, and the piece is not much larger than the `bytes` in it, as of a
/// broadcast, whose strides are zero.
bool staged_as_one_piece(CopyPlan const& plan, std::size_t bytes, std::size_t span_bytes);

/// Is the copy engine the faster way, compared with a kernel that reads and writes host memory in
/// place?
///
/// Measured on an H200 (PCIe 5 x16, 64 MiB, every other run of a pinned buffer), GB/s by
/// cudaMemcpy2DAsync and by kernel: host to device 4.5 and 24 for runs of 8 bytes, 12 and 25 for
/// 16, 25 and 27 for 32, equal at 64, 55 and 51 from 256 on; device to host 6.4 and 4.0 for 8, 13
/// and 8 for 16, equal from 32 on.
bool copy_engine_is_faster(CopyPlan const& plan, bool device_reads_host_memory);

}  // namespace KokkosHostSpaces::Impl

#endif
