// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_PLAN_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_PLAN_HPP

#include <KokkosHostSpaces/impl/core/Streams.hpp>

#include <array>
#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// A copy between two strided arrays of the same shape: a loop nest over contiguous runs of bytes.
/// Loop 0 is the innermost. Dimensions of extent one are dropped, and loops that both sides walk
/// without a gap are merged: a contiguous copy has no loops, a sub-matrix has one.
///
/// bytes() == run_bytes * extent[0] * ... * extent[loops - 1]
struct CopyPlan {
  static constexpr int max_loops = 8;

  std::size_t run_bytes = 0;  ///< 0: there is nothing to copy
  int loops             = 0;
  std::array<std::size_t, max_loops> extent{};      ///< iterations of each loop
  std::array<std::size_t, max_loops> dst_stride{};  ///< bytes
  std::array<std::size_t, max_loops> src_stride{};  ///< bytes

  bool contiguous() const { return loops == 0; }
  std::size_t bytes() const;

  /// Number of calls of the copy engine: of 3-D copies where the planes of both sides are a whole
  /// number of rows apart, else of 2-D copies; one for each run where runs overlap.
  std::size_t engine_calls() const;

  /// Number of 2-D copies, of which a 3-D copy carries many; 1 of a contiguous copy.
  std::size_t planes() const;

  /// Returns true if the copy engine makes the copy in few calls, and no runs of a side overlap (no
  /// stride is shorter than the run).
  bool suits_copy_engine() const;

 private:
  bool overlaps(std::size_t loop) const {
    return dst_stride[loop] < run_bytes || src_stride[loop] < run_bytes;
  }
};

/// Plans a copy of `rank` dimensions. Strides are in elements of `element_bytes` bytes.
CopyPlan make_copy_plan(std::size_t element_bytes, int rank, std::size_t const* extents,
                        std::size_t const* dst_strides, std::size_t const* src_strides);

/// Enqueues the copy on `stream` by plan.engine_calls() calls of the copy engine, and returns.
void copy_async(void* dst, void const* src, CopyPlan const& plan, StreamHandle stream);

/// Returns true if the copy engine is faster than a kernel that works on host memory in place, and
/// no call of it waits for the device.
bool copy_engine_is_faster(CopyPlan const& plan, bool device_reads_host_memory);

/// The way to carry out a copy between two Views.
enum class CopyWay {
  nothing,         ///< empty
  one_copy,        ///< one asynchronous memcpy
  boxes,           ///< 2-D and 3-D asynchronous copies
  byte_kernel,     ///< a kernel copies one run of bytes
  tiled_kernel,    ///< a kernel copies tiles: the sides differ in the order of dimensions
  element_kernel,  ///< Kokkos' kernel copies element by element
  staged,          ///< pageable memory goes through page-locked memory, box by box
};

/// Properties of a copy that its plan does not have.
struct CopySides {
  bool same_type;  ///< no conversion: bytes can be copied
  bool pageable_source, pageable_destination;
  bool both_page_locked;  ///< host memory that kernels reach
  bool device_reads_host_memory;
  std::size_t addresses = 0;  ///< of both sides, or-ed: tells their alignment
};

/// Chooses the fastest way. It never waits if each side is page-locked or device memory.
CopyWay choose_way(CopyPlan const& plan, CopySides const& sides);

}  // namespace KokkosHostSpaces::Impl

#endif
