// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/SlabCopies.hpp>
#include <KokkosHostSpaces/impl/Tiling.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace KokkosHostSpaces::Impl {

namespace {

struct Loop {
  std::size_t extent, dst_stride, src_stride;  // strides in bytes
};

// Of more than staging memory shall hold. All parts are alike, but the last.
bool suits_staging_in_parts(CopyPlan const& plan, bool pageable_source) {
  std::size_t const most = copy_thresholds.staging_bytes;
  if (plan.bytes() <= most) return false;
  StagedPart const part = cut_for_staging(plan, pageable_source, most).front();
  return (pageable_source ? part.to_staging : part.from_staging).suits_copy_engine();
}

// Does `a` belong further inside the loop nest than `b`?
bool is_inside(Loop const& a, Loop const& b) {
  return a.dst_stride != b.dst_stride ? a.dst_stride < b.dst_stride : a.src_stride < b.src_stride;
}

// Does `outer` continue where `inner` ends, on both sides?
bool continues(Loop const& outer, std::size_t inner_dst_bytes, std::size_t inner_src_bytes) {
  return outer.dst_stride == inner_dst_bytes && outer.src_stride == inner_src_bytes;
}

bool suits_slabs(CopyPlan const& plan) {
  return plan.bytes() >= copy_thresholds.slabs_from_bytes &&
         cut_into_slabs(plan, copy_thresholds.least_slab_bytes);
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
  if (engine_calls() > copy_thresholds.few_calls) return false;
  for (int i = 0; i < loops; ++i)
    if (overlaps(i)) return false;
  return true;
}

bool staged_as_one_piece(CopyPlan const& plan, std::size_t bytes, std::size_t span_bytes) {
  return plan.engine_calls() > copy_thresholds.few_calls && span_bytes <= 4 * bytes;
}

std::vector<StagedPart> cut_for_staging(CopyPlan const& plan, bool pageable_source,
                                        std::size_t most_bytes) {
  using Strides        = std::array<std::size_t, CopyPlan::max_loops>;
  auto const& pageable = pageable_source ? plan.src_stride : plan.dst_stride;
  std::array<int, CopyPlan::max_loops> order{};
  auto* const end = order.begin() + plan.loops;
  std::iota(order.begin(), end, 0);
  std::stable_sort(order.begin(), end, [&](int a, int b) { return pageable[a] < pageable[b]; });

  // Strides count in runs: tiles are for those that are multiples of them.
  Strides dense{}, dst{}, src{}, extents = plan.extent;
  std::size_t runs = 1;
  for (int const* loop = order.begin(); loop != end; ++loop) {
    dense[*loop] = runs;
    dst[*loop]   = plan.dst_stride[*loop] / plan.run_bytes;
    src[*loop]   = plan.src_stride[*loop] / plan.run_bytes;
    if (loop + 1 != end) runs *= plan.extent[*loop];
  }
  auto const part = [&](Strides const& to, Strides const& from) {
    return make_copy_plan(plan.run_bytes, plan.loops, extents.data(), to.data(), from.data());
  };
  int const last          = *(end - 1);
  std::size_t const bytes = runs * plan.run_bytes;  // of an iteration of the last loop
  std::size_t const most  = std::max<std::size_t>(most_bytes / bytes, 1);
  std::vector<StagedPart> parts;
  for (std::size_t first = 0; first < plan.extent[last]; first += most) {
    extents[last] = std::min(most, plan.extent[last] - first);
    parts.push_back({.to_staging   = part(dense, src),
                     .from_staging = part(dst, dense),
                     .bytes        = extents[last] * bytes,
                     .dst_offset   = first * plan.dst_stride[last],
                     .src_offset   = first * plan.src_stride[last]});
  }
  return parts;
}

bool copy_engine_is_faster(CopyPlan const& plan, bool device_reads_host_memory) {
  if (plan.contiguous()) return true;
  return plan.suits_copy_engine() &&
         (!device_reads_host_memory || plan.run_bytes >= copy_thresholds.equal_run_bytes);
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
  bool const by_tiles = sides.same_type && suits_tiles(plan, sides.addresses);
  if (pageable && by_tiles && suits_staging_in_parts(plan, sides.pageable_source))
    return CopyWay::staged_in_parts;
  if (sides.pageable_source) return CopyWay::staged_source;
  if (sides.pageable_destination) return CopyWay::staged_destination;
  if (!by_tiles) return CopyWay::element_kernel;
  return sides.device_reads_host_memory && sides.to_device_memory && suits_slabs(plan)
             ? CopyWay::tiled_slabs
             : CopyWay::tiled_kernel;
}

bool suits_tiles(CopyPlan const& plan, std::size_t addresses) {
  return make_tiling(plan, addresses, false).has_value();
}

}  // namespace KokkosHostSpaces::Impl
