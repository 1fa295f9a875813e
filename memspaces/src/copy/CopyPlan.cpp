// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/copy/Tiling.hpp>

#include "../../../backend/Driver.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

struct Loop {
  std::size_t extent, dst_stride, src_stride;  // strides in bytes
};

// Is `a` further inside the loop nest than `b`?
bool is_inside(Loop const& a, Loop const& b) {
  return a.dst_stride != b.dst_stride ? a.dst_stride < b.dst_stride : a.src_stride < b.src_stride;
}

// Does `outer` continue where `inner` ends, on both sides?
bool continues(Loop const& outer, std::size_t inner_dst_bytes, std::size_t inner_src_bytes) {
  return outer.dst_stride == inner_dst_bytes && outer.src_stride == inner_src_bytes;
}

// Calls the copy engine for the runs, rows and planes of a box; loops over further dimensions.
void copy_boxes(char* dst, char const* src, CopyPlan const& plan, int loop, Driver::Stream stream) {
  if (loop >= 2) {
    for (std::size_t i = 0; i < plan.extent[loop]; ++i)
      copy_boxes(dst + i * plan.dst_stride[loop], src + i * plan.src_stride[loop], plan, loop - 1,
                 stream);
    return;
  }
  Driver::Box box{.run_bytes       = plan.run_bytes,
                  .rows            = 1,
                  .planes          = 1,
                  .row_pitch_dst   = plan.run_bytes,
                  .plane_pitch_dst = plan.run_bytes,
                  .row_pitch_src   = plan.run_bytes,
                  .plane_pitch_src = plan.run_bytes};
  if (plan.loops > 0) {
    box.rows          = plan.extent[0];
    box.row_pitch_dst = plan.dst_stride[0];
    box.row_pitch_src = plan.src_stride[0];
  }
  box.plane_pitch_dst = box.rows * box.row_pitch_dst;
  box.plane_pitch_src = box.rows * box.row_pitch_src;
  if (plan.loops > 1) {
    box.planes          = plan.extent[1];
    box.plane_pitch_dst = plan.dst_stride[1];
    box.plane_pitch_src = plan.src_stride[1];
  }
  Driver::copy(dst, src, box, stream);
}

}  // namespace

CopyPlan make_copy_plan(std::size_t element_bytes, int rank, std::size_t const* extents,
                        std::size_t const* dst_strides, std::size_t const* src_strides) {
  std::array<Loop, CopyPlan::max_loops> loops{};
  int count = 0;
  for (int r = 0; r < rank; ++r) {
    if (extents[r] == 0) return {};
    if (extents[r] == 1) continue;
    Loop const loop{extents[r], dst_strides[r] * element_bytes, src_strides[r] * element_bytes};
    int position = count++;
    for (; position > 0 && is_inside(loop, loops[position - 1]); --position)
      loops[position] = loops[position - 1];
    loops[position] = loop;
  }

  CopyPlan plan;
  plan.run_bytes = element_bytes;
  for (int i = 0; i < count; ++i) {
    Loop const& loop = loops[i];
    if (plan.loops == 0 && continues(loop, plan.run_bytes, plan.run_bytes)) {
      plan.run_bytes *= loop.extent;
      continue;
    }
    int const last = plan.loops - 1;
    if (last >= 0 && continues(loop, plan.dst_stride[last] * plan.extent[last],
                               plan.src_stride[last] * plan.extent[last])) {
      plan.extent[last] *= loop.extent;
      continue;
    }
    plan.extent[plan.loops]     = loop.extent;
    plan.dst_stride[plan.loops] = loop.dst_stride;
    plan.src_stride[plan.loops] = loop.src_stride;
    ++plan.loops;
  }
  return plan;
}

std::size_t CopyPlan::bytes() const {
  return std::accumulate(extent.begin(), extent.begin() + loops, run_bytes, std::multiplies<>());
}

std::size_t CopyPlan::planes() const {
  std::size_t product = 1;
  for (int i = 1; i < loops; ++i) product *= extent[i];
  return product;
}

std::size_t CopyPlan::engine_calls() const {
  auto const has_planes = [this](auto const& stride) {
    return stride[0] > 0 && stride[1] % stride[0] == 0 && stride[1] / stride[0] >= extent[0];
  };
  int in_a_call = loops >= 2 && has_planes(dst_stride) && has_planes(src_stride) ? 2 : 1;
  if (loops > 0 && overlaps(0)) in_a_call = 0;
  std::size_t product = 1;
  for (int i = in_a_call; i < loops; ++i) product *= extent[i];
  return product;
}

bool CopyPlan::suits_copy_engine() const {
  if (engine_calls() > copy_thresholds_in_use().few_calls) return false;
  for (int i = 0; i < loops; ++i)
    if (overlaps(std::size_t(i))) return false;
  return true;
}

void copy_async(void* dst, void const* src, CopyPlan const& plan, StreamHandle stream) {
  if (plan.contiguous()) return copy_async(dst, src, plan.run_bytes, stream);
  copy_boxes(static_cast<char*>(dst), static_cast<char const*>(src), plan, plan.loops - 1, stream);
}

bool copy_engine_is_faster(CopyPlan const& plan, bool device_reads_host_memory) {
  if (plan.contiguous()) return true;
  return plan.suits_copy_engine() && plan.planes() <= copy_thresholds_in_use().most_planes &&
         (!device_reads_host_memory || plan.run_bytes >= copy_thresholds_in_use().equal_run_bytes);
}

CopyWay choose_way(CopyPlan const& plan, CopySides const& sides) {
  if (plan.run_bytes == 0) return CopyWay::nothing;
  bool const pageable = sides.pageable_source || sides.pageable_destination;
  if (sides.same_type && sides.both_page_locked) {
    if (plan.contiguous()) return CopyWay::byte_kernel;
  } else if (sides.same_type &&
             (pageable ? plan.suits_copy_engine()
                       : copy_engine_is_faster(plan, sides.device_reads_host_memory))) {
    return plan.contiguous() ? CopyWay::one_copy : CopyWay::boxes;
  }
  if (pageable) return CopyWay::staged;
  return sides.same_type && make_tiling(plan, sides.addresses, false) ? CopyWay::tiled_kernel
                                                                      : CopyWay::element_kernel;
}

}  // namespace KokkosHostSpaces::Impl
