// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_PLAN_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_PLAN_HPP

#include <KokkosHostSpaces/impl/core/Streams.hpp>

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
  std::size_t bytes() const;

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

/// Enqueues the copy on `stream` by plan.engine_calls() calls of the copy engine, and returns.
void copy_async(void* dst, void const* src, CopyPlan const& plan, StreamHandle stream);

/// Is the copy engine the faster way, compared with a kernel that reads and writes host memory in
/// place?
bool copy_engine_is_faster(CopyPlan const& plan, bool device_reads_host_memory);

/// How a copy between two Views is carried out.
enum class CopyWay {
  nothing,         ///< empty, or both sides are the same memory
  one_copy,        ///< one asynchronous memcpy
  boxes,           ///< 2-D and 3-D asynchronous copies
  byte_kernel,     ///< by a kernel, a run of bytes
  tiled_kernel,    ///< by a kernel, tile by tile: the sides differ in the order of dimensions
  element_kernel,  ///< by Kokkos' kernel, element by element
  staged,          ///< what is pageable goes through page-locked memory, box by box
};

/// What a plan does not tell of a copy.
struct CopySides {
  bool same_type;  ///< no conversion: bytes can be copied
  bool pageable_source, pageable_destination;
  bool both_page_locked;  ///< host memory that kernels reach
  bool device_reads_host_memory;
  std::size_t addresses = 0;  ///< those of both sides, or-ed: how they are aligned
};

CopyWay choose_way(CopyPlan const& plan, CopySides const& sides);

/// Can the copy be made by tiles (TiledCopy.hpp)?
bool suits_tiles(CopyPlan const& plan, std::size_t addresses);

}  // namespace KokkosHostSpaces::Impl

#endif
