// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/copy/StagedBoxes.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

// Halves have sides for tiles of words, or shorter ones; and what is the fastest dimension of the
// other side is none any more if one element of it is left.
constexpr std::array<std::size_t, 5> halved_if_longer_than = {64, 16, 4, 2, 1};

// Of bytes, tiles are longer: but a dimension that is long enough is not to be left whole for it.
std::size_t halved_first_if_longer_than(std::size_t element_bytes) {
  return std::max(halved_if_longer_than.front(), 512 / element_bytes);
}

// Halves begin at whole tiles, and lie as the whole does to words of 16 bytes.
constexpr std::size_t elements_in_step = 32;

// How much longer than its contents a piece with gaps may be.
constexpr std::size_t most_gaps = 4;

// What a piece is longer than its rows by is copied while a memcpy would go from row to row. H200, 98
// MiB in rows of 16 bytes, 2.8 times as long with gaps: to the device 125 ms by rows, 47 with gaps.
constexpr std::size_t bytes_in_time_of_a_row = 160;

bool takes_few_calls(StagedBox const& box) {
  return box.plan.engine_calls() <= copy_thresholds_in_use().few_calls;
}

// Is a source of these rows copied faster as one piece?
bool is_better_with_gaps(StagedBox const& box, std::size_t bytes_with_gaps) {
  if (box.bytes == 0 || bytes_with_gaps > most_gaps * box.bytes) return false;
  std::size_t const rows = box.bytes / box.plan.run_bytes;
  return !takes_few_calls(box) || bytes_with_gaps < box.bytes + rows * bytes_in_time_of_a_row;
}

// A half with gaps may be as long as the whole: then it is of no use.
bool is_much_shorter(StagedBox const& half, StagedBox const& box) {
  return half.bytes <= box.bytes / 4 * 3;
}

void swap_loops(CopyPlan& plan, int i, int j) {
  auto const a = std::size_t(i), b = std::size_t(j);
  std::swap(plan.extent[a], plan.extent[b]);
  std::swap(plan.dst_stride[a], plan.dst_stride[b]);
  std::swap(plan.src_stride[a], plan.src_stride[b]);
}

// A call takes two loops, which need not be the innermost: the longest two, of lines with gaps in
// all dimensions.
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
    lay_out(all);
    add(all);
  }

  std::vector<StagedBox> boxes;

 private:
  struct Halves {
    StagedBox front, back;
  };

  // Halves it until it is small enough.
  void add(StagedBox const& box) {
    std::optional<Halves> const halves = box.bytes > m_most_bytes ? halves_of(box) : std::nullopt;
    if (!halves) return boxes.push_back(box);
    add(halves->front);
    add(halves->back);
  }

  // Along the dimension that is the slowest on the pageable side, of those that are long, so that
  // tiles can be made of a half, if few calls carry it. Nothing if it is one element.
  std::optional<Halves> halves_of(StagedBox const& box) const {
    std::optional<Halves> slowest =
        slowest_of(box, halved_first_if_longer_than(m_side.element_bytes));
    for (std::size_t const least : halved_if_longer_than)
      if (!slowest) slowest = slowest_of(box, least);
    for (int i = 0; i < m_side.rank && !slowest; ++i)
      if (box.extent[m_slowest_first[std::size_t(i)]] > 1)
        slowest = halved(box, m_slowest_first[std::size_t(i)]);
    return slowest;
  }

  std::optional<Halves> slowest_of(StagedBox const& box, std::size_t least) const {
    for (int i = 0; i < m_side.rank; ++i) {
      std::size_t const r = m_slowest_first[std::size_t(i)];
      if (box.extent[r] <= least) continue;
      Halves const halves = halved(box, r);
      if (takes_few_calls(halves.front) && is_much_shorter(halves.front, box)) return halves;
    }
    return std::nullopt;
  }

  Halves halved(StagedBox const& box, std::size_t r) const {
    Halves halves{box, box};
    std::size_t half = (box.extent[r] + 1) / 2;
    if (half >= 4 * elements_in_step)
      half = (half + elements_in_step - 1) / elements_in_step * elements_in_step;
    halves.front.extent[r] = half;
    halves.back.first[r] += half;
    halves.back.extent[r] -= half;
    lay_out(halves.front);
    lay_out(halves.back);
    return halves;
  }

  void lay_out(StagedBox& box) const {
    std::size_t elements = 1, last = 0;
    for (int i = m_side.rank; i-- > 0;) {
      std::size_t const r = m_slowest_first[std::size_t(i)];
      box.stride[r]       = elements;
      elements *= box.extent[r];
      last += (box.extent[r] - 1) * m_side.stride[r];
    }
    auto const& dst = m_side.is_source ? box.stride : m_side.stride;
    auto const& src = m_side.is_source ? m_side.stride : box.stride;
    box.bytes       = elements * m_side.element_bytes;
    box.plan        = with_fewest_calls(make_copy_plan(m_side.element_bytes, m_side.rank,
                                                       box.extent.data(), dst.data(), src.data()));
    std::size_t const with_gaps = (last + 1) * m_side.element_bytes;
    if (!m_side.is_source || !is_better_with_gaps(box, with_gaps)) return;
    box.stride         = m_side.stride;
    box.bytes          = with_gaps;
    box.plan           = {};
    box.plan.run_bytes = with_gaps;
  }

  PageableSide const& m_side;
  std::size_t m_most_bytes;
  std::array<std::size_t, 8> m_slowest_first{};
};

}  // namespace

std::vector<StagedBox> cut_for_staging(PageableSide const& side, std::size_t most_bytes) {
  return Cut(side, most_bytes).boxes;
}

}  // namespace KokkosHostSpaces::Impl
