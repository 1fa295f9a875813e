// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/copy/Staging.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

void swap_loops(CopyPlan& plan, int i, int j) {
  auto const a = std::size_t(i), b = std::size_t(j);
  std::swap(plan.extent[a], plan.extent[b]);
  std::swap(plan.dst_stride[a], plan.dst_stride[b]);
  std::swap(plan.src_stride[a], plan.src_stride[b]);
}

// Moves two loops to the front, where one call of the copy engine carries both: those that leave
// the fewest calls.
CopyPlan with_fewest_calls(CopyPlan const& plan) {
  CopyPlan best = plan;
  for (int row = 0; row < plan.loops && best.engine_calls() > 1; ++row)
    for (int plane = row + 1; plane < plan.loops; ++plane) {
      CopyPlan other = plan;
      swap_loops(other, 0, row);
      swap_loops(other, 1, plane);
      if (other.engine_calls() < best.engine_calls()) best = other;
    }
  return best;
}

class Cut {
 public:
  Cut(PageableSide const& side, std::size_t most_bytes) : m_side(side), m_most_bytes(most_bytes) {
    auto const end = m_slowest_first.begin() + side.rank;
    std::iota(m_slowest_first.begin(), end, std::size_t(0));
    std::stable_sort(m_slowest_first.begin(), end,
                     [&](std::size_t a, std::size_t b) { return side.stride[a] > side.stride[b]; });
    StagedBox all;
    all.extent = side.extent;
    add(all);
  }

  std::vector<StagedBox> boxes;

 private:
  // Halves the box along its slowest dimension until it is small enough.
  void add(StagedBox box) {
    lay_out(box);
    auto const end      = m_slowest_first.begin() + m_side.rank;
    auto const long_one = std::find_if(m_slowest_first.begin(), end, [&](std::size_t r) {
      return box.extent[r] > 1 && !repeats(r);
    });
    if (box.bytes <= m_most_bytes || long_one == end) return boxes.push_back(box);
    StagedBox back         = box;
    std::size_t const half = box.extent[*long_one] / 2;
    box.extent[*long_one] -= half;
    back.first[*long_one] += box.extent[*long_one];
    back.extent[*long_one] = half;
    add(box);
    add(back);
  }

  bool repeats(std::size_t r) const { return m_side.is_source && m_side.stride[r] == 0; }

  void lay_out(StagedBox& box) const {
    std::size_t elements = 1;
    OfDimensions extent  = box.extent;
    for (int i = m_side.rank; i-- > 0;) {
      std::size_t const r = m_slowest_first[std::size_t(i)];
      box.stride[r]       = repeats(r) ? 0 : elements;
      if (repeats(r)) extent[r] = std::min<std::size_t>(extent[r], 1);
      elements *= extent[r];
    }
    auto const& dst = m_side.is_source ? box.stride : m_side.stride;
    auto const& src = m_side.is_source ? m_side.stride : box.stride;
    CopyPlan const plan =
        make_copy_plan(m_side.element_bytes, m_side.rank, extent.data(), dst.data(), src.data());
    box.bytes = elements * m_side.element_bytes;
    box.plan  = with_fewest_calls(plan);
  }

  PageableSide const& m_side;
  std::size_t m_most_bytes;
  OfDimensions m_slowest_first{};
};

}  // namespace

std::vector<StagedBox> cut_for_staging(PageableSide const& side, std::size_t most_bytes) {
  return Cut(side, most_bytes).boxes;
}

}  // namespace KokkosHostSpaces::Impl
