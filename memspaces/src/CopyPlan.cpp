// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/SlabCopies.hpp>
#include <KokkosHostSpaces/impl/Tiling.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

namespace KokkosHostSpaces::Impl {

namespace {

struct Loop {
  std::size_t extent, dst_stride, src_stride;  // strides in bytes
};

// Does `a` belong further inside the loop nest than `b`?
bool is_inside(Loop const& a, Loop const& b) {
  return a.dst_stride != b.dst_stride ? a.dst_stride < b.dst_stride : a.src_stride < b.src_stride;
}

// Does `outer` continue where `inner` ends, on both sides?
bool continues(Loop const& outer, std::size_t inner_dst_bytes, std::size_t inner_src_bytes) {
  return outer.dst_stride == inner_dst_bytes && outer.src_stride == inner_src_bytes;
}

bool suits_slabs(CopyPlan const& plan, LinkWay way) {
  CopyThresholds const& known = copy_thresholds_in_use();
  return way != LinkWay::none && plan.bytes() >= known.slabs_from(way == LinkWay::to_host) &&
         cut_into_slabs(plan, way, known.least_slab_bytes);
}

// How a copy is cut for staging memory, which has the order of the pageable side.
class Cuts {
 public:
  Cuts(CopyPlan const& plan, bool pageable_source, std::size_t most_bytes)
      : m_plan(plan), m_pageable_source(pageable_source), m_most_bytes(most_bytes) {
    auto const& stride = pageable_source ? plan.src_stride : plan.dst_stride;
    std::iota(m_order.begin(), m_order.begin() + plan.loops, 0);
    std::stable_sort(m_order.begin(), m_order.begin() + plan.loops,
                     [&](int a, int b) { return stride[std::size_t(a)] < stride[std::size_t(b)]; });
  }

  // The last loop of the pageable side that suits, or nothing.
  std::optional<int> loop() const {
    for (int i = m_plan.loops - 1; i >= 0; --i)
      if (suits(m_order[std::size_t(i)])) return m_order[std::size_t(i)];
    return std::nullopt;
  }
  int last_loop() const { return m_order[std::size_t(m_plan.loops - 1)]; }

  // Iterations of the loop in a part.
  std::size_t at_once(int loop) const {
    std::size_t const extent = m_plan.extent[std::size_t(loop)];
    return std::clamp<std::size_t>(m_most_bytes / (m_plan.bytes() / extent), 1, extent);
  }

  StagedPart part(int cut, std::size_t first, std::size_t count) const {
    Strides dense{}, dst{}, src{}, extents = m_plan.extent;
    extents[std::size_t(cut)] = count;
    // Strides count in runs: tiles are for those that are multiples of them.
    std::size_t runs = 1;
    for (int i = 0; i < m_plan.loops; ++i) {
      auto const loop = std::size_t(m_order[std::size_t(i)]);
      dense[loop]     = runs;
      dst[loop]       = m_plan.dst_stride[loop] / m_plan.run_bytes;
      src[loop]       = m_plan.src_stride[loop] / m_plan.run_bytes;
      runs *= extents[loop];
    }
    auto const side = [&](Strides const& to, Strides const& from) {
      return make_copy_plan(m_plan.run_bytes, m_plan.loops, extents.data(), to.data(), from.data());
    };
    return {.to_staging   = side(dense, src),
            .from_staging = side(dst, dense),
            .bytes        = runs * m_plan.run_bytes,
            .dst_offset   = first * m_plan.dst_stride[std::size_t(cut)],
            .src_offset   = first * m_plan.src_stride[std::size_t(cut)]};
  }

 private:
  using Strides = std::array<std::size_t, CopyPlan::max_loops>;

  // Do few calls and tiles carry each part? A loop that tiles turn may end with a narrow one, for
  // few calls alone: all parts but the last are alike.
  bool suits(int loop) const {
    std::size_t const extent = m_plan.extent[std::size_t(loop)], count = at_once(loop);
    if (m_plan.bytes() / extent > m_most_bytes) return false;
    StagedPart const each = part(loop, 0, count);
    StagedPart const last = part(loop, 0, (extent - 1) % count + 1);
    return pageable(each).suits_copy_engine() && by_tiles(other(each)) &&
           pageable(last).suits_copy_engine() &&
           (by_tiles(other(last)) || other(last).suits_copy_engine());
  }
  CopyPlan const& pageable(StagedPart const& part) const {
    return m_pageable_source ? part.to_staging : part.from_staging;
  }
  CopyPlan const& other(StagedPart const& part) const {
    return m_pageable_source ? part.from_staging : part.to_staging;
  }
  bool by_tiles(CopyPlan const& plan) const { return suits_tiles(plan, m_plan.run_bytes); }

  CopyPlan const& m_plan;
  bool m_pageable_source;
  std::size_t m_most_bytes;
  std::array<int, CopyPlan::max_loops> m_order{};
};

// Of more than staging memory shall hold.
bool suits_staging_in_parts(CopyPlan const& plan, bool pageable_source) {
  std::size_t const most = copy_thresholds_in_use().staging_bytes;
  return plan.bytes() > most && Cuts(plan, pageable_source, most).loop();
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
  if (engine_calls() > copy_thresholds_in_use().few_calls) return false;
  for (int i = 0; i < loops; ++i)
    if (overlaps(i)) return false;
  return true;
}

bool staged_as_one_piece(CopyPlan const& plan, std::size_t bytes, std::size_t span_bytes) {
  return plan.engine_calls() > copy_thresholds_in_use().few_calls && span_bytes <= 4 * bytes;
}

std::vector<StagedPart> cut_for_staging(CopyPlan const& plan, bool pageable_source,
                                        std::size_t most_bytes) {
  Cuts const cuts(plan, pageable_source, most_bytes);
  int const loop           = cuts.loop().value_or(cuts.last_loop());
  std::size_t const extent = plan.extent[std::size_t(loop)], at_once = cuts.at_once(loop);
  std::vector<StagedPart> parts;
  for (std::size_t first = 0; first < extent; first += at_once)
    parts.push_back(cuts.part(loop, first, std::min(at_once, extent - first)));
  return parts;
}

bool copy_engine_is_faster(CopyPlan const& plan, bool device_reads_host_memory) {
  if (plan.contiguous()) return true;
  return plan.suits_copy_engine() &&
         (!device_reads_host_memory || plan.run_bytes >= copy_thresholds_in_use().equal_run_bytes);
}

CopyWay choose_way(CopyPlan const& plan, CopySides const& sides) {
  if (plan.run_bytes == 0) return CopyWay::nothing;
  bool const pageable = sides.pageable_source || sides.pageable_destination;
  if (sides.same_type && sides.link_way != LinkWay::none && suits_row_kernel(plan, sides.addresses))
    return CopyWay::row_kernel;
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
  return suits_slabs(plan, sides.link_way) ? CopyWay::tiled_slabs : CopyWay::tiled_kernel;
}

bool suits_tiles(CopyPlan const& plan, std::size_t addresses) {
  return make_tiling(plan, addresses, false).has_value();
}

bool suits_row_kernel(CopyPlan const& plan, std::size_t addresses) {
  constexpr std::size_t word = 16, most_words = std::size_t(1) << 31;
  CopyThresholds const& known = copy_thresholds_in_use();
  if (plan.loops != 2 || plan.run_bytes < known.equal_run_bytes ||
      plan.run_bytes > known.most_run_of_planes_by_kernel ||
      plan.bytes() < known.least_planes_by_kernel || plan.bytes() / word > most_words)
    return false;
  std::size_t all = addresses | plan.run_bytes;
  for (std::size_t loop = 0; loop < 2; ++loop) {
    if (plan.dst_stride[loop] < plan.run_bytes) return false;  // a row would be written twice
    all |= plan.dst_stride[loop] | plan.src_stride[loop];
  }
  return all % word == 0;
}

}  // namespace KokkosHostSpaces::Impl
