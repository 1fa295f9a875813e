// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "PlannedCopies.hpp"
#include "RandomCopies.hpp"
#include "../Rounds.hpp"

#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/copy/StagedBoxes.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

using namespace KokkosHostSpaces::Impl;

namespace StagedBoxes {

using Numbers = std::vector<std::size_t>;

PageableSide side(std::size_t element, Numbers const& extents, Numbers const& strides,
                  bool is_source) {
  PageableSide result{
      .element_bytes = element, .rank = int(extents.size()), .is_source = is_source};
  std::copy(extents.begin(), extents.end(), result.extent.begin());
  std::copy(strides.begin(), strides.end(), result.stride.begin());
  return result;
}

// Calls with the index of each element of a box within it.
template <class Use>
void for_each_element(StagedBox const& box, int rank, Use const& use) {
  std::array<std::size_t, 8> index{};
  while (true) {
    use(index);
    int r = 0;
    while (r < rank && ++index[std::size_t(r)] == box.extent[std::size_t(r)])
      index[std::size_t(r++)] = 0;
    if (r == rank) return;
  }
}

// Through one staging memory, whose other side the host walks element by element.
bool is_right(RandomCopies::Case const& c, bool pageable_source, std::size_t most) {
  Numbers const dst_strides = c.strides(c.dst), src_strides = c.strides(c.src);
  Numbers const& pageable = pageable_source ? src_strides : dst_strides;
  Numbers const& other    = pageable_source ? dst_strides : src_strides;
  std::size_t const rank  = c.extents.size();
  std::vector<unsigned char> src(c.span(c.src) * c.element), staging(c.span(c.src) * c.element * 8),
      wanted(c.span(c.dst) * c.element, 0xee), dst = wanted;
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<unsigned char>(i * 167 >> 3);
  c.copy(wanted.data(), src.data());
  std::size_t elements = 0;
  for (StagedBox const& box :
       cut_for_staging(side(c.element, c.extents, pageable, pageable_source), most)) {
    std::size_t count = 1, first_dst = c.dst.offset, first_src = c.src.offset;
    for (std::size_t r = 0; r < rank; ++r) {
      count *= box.extent[r];
      first_dst += box.first[r] * dst_strides[r];
      first_src += box.first[r] * src_strides[r];
    }
    elements += count;
    if (box.bytes > most && count > 1) return false;
    if (box.bytes > staging.size()) staging.resize(box.bytes);
    unsigned char* const to         = dst.data() + first_dst * c.element;
    unsigned char const* const from = src.data() + first_src * c.element;
    if (pageable_source) PlannedCopies::carry_out(staging.data(), from, box.plan);
    for_each_element(box, int(rank), [&](std::array<std::size_t, 8> const& index) {
      std::size_t there = 0, here = 0;
      for (std::size_t r = 0; r < rank; ++r) {
        there += index[r] * other[r];
        here += index[r] * box.stride[r];
      }
      if ((here + 1) * c.element > box.bytes) FAIL("outside of staging memory");
      if (pageable_source)
        std::memcpy(to + there * c.element, staging.data() + here * c.element, c.element);
      else
        std::memcpy(staging.data() + here * c.element, from + there * c.element, c.element);
    });
    if (!pageable_source) PlannedCopies::carry_out(to, staging.data(), box.plan);
  }
  return dst == wanted && elements == std::accumulate(c.extents.begin(), c.extents.end(),
                                                      std::size_t(1), std::multiplies<>());
}

TEST_CASE("box by box a copy moves what it moves in one, through no more memory than allowed",
          "[random_copies]") {
  std::mt19937 random(11);
  int const count = rounds(400);
  for (int round = 0; round < count; ++round) {
    std::size_t const element  = std::size_t(1) << random() % 5;
    RandomCopies::Case const c = RandomCopies::make_case(random, element, 1 + random() % 6, 3000);
    bool const pageable_source = random() % 2 == 0;
    std::size_t const most     = 1 + random() % (random() % 2 == 0 ? 100 : 20000);
    auto const fails           = [&](RandomCopies::Case const& tried) {
      return !is_right(tried, pageable_source, most);
    };
    if (fails(c))
      FAIL("round " << round << (pageable_source ? ", source" : ", destination") << ", at most "
                    << most << " bytes: " << RandomCopies::shrink(c, fails).text());
  }
}

TEST_CASE("a single element is a box, also of rank 0", "[copy_plan]") {
  for (bool const is_source : {true, false}) {
    CHECK(cut_for_staging(side(8, {}, {}, is_source), 1).size() == 1);
    CHECK(cut_for_staging(side(8, {}, {}, is_source), 100).front().bytes == 8);
    CHECK(cut_for_staging(side(8, {1, 1}, {7, 7}, is_source), 1).size() == 1);
  }
}

TEST_CASE("a broadcast source is staged as one piece, and not run by run", "[copy_plan]") {
  auto const all = cut_for_staging(side(8, {1000000}, {0}, true), 1000);
  REQUIRE(all.size() == 1);
  CHECK(all.front().bytes == 8);
  CHECK(all.front().plan.contiguous());
  auto const row = cut_for_staging(side(8, {1000, 1000}, {0, 1}, true), 1000000);
  REQUIRE(row.size() == 1);
  CHECK(row.front().bytes == 8000);
  // Not where a piece would be much longer than its contents.
  auto const thin =
      cut_for_staging(side(8, {100, 100, 100}, {1, 100000, 1000}, true), std::size_t(64) << 20);
  REQUIRE(thin.size() == 1);
  CHECK(thin.front().bytes == 8000000);
}

TEST_CASE("each box is carried by few calls and by tiles, also where the last dimensions are short",
          "[copy_plan]") {
  std::size_t const million = 1000000, most = copy_thresholds.staging_bytes;
  for (Numbers const& extents : {Numbers{4 * million, 3, 3},
                                 {million, 8, 17},
                                 {million, 3, 9},
                                 {8, million, 17},
                                 {100 * million, 2},
                                 {100, million},
                                 {2 * million, 2, 2, 3, 3}})
    for (bool const is_source : {true, false})
      for (bool const is_turned : {true, false}) {
        Numbers order(extents.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        if (is_turned) std::reverse(order.begin(), order.end());
        Numbers const here = PlannedCopies::strides(extents, order, 0);
        std::reverse(order.begin(), order.end());
        Numbers const there = PlannedCopies::strides(extents, order, 0);
        INFO(extents[0] << " x " << extents[1] << ", " << is_source << is_turned);
        std::size_t longest = 0;
        auto const boxes    = cut_for_staging(side(8, extents, here, is_source), most);
        for (StagedBox const& box : boxes) {
          longest = std::max(longest, box.bytes);
          CHECK(box.plan.engine_calls() <= copy_thresholds.few_calls);
          Numbers const extent(box.extent.begin(), box.extent.begin() + extents.size()),
              staged(box.stride.begin(), box.stride.begin() + extents.size());
          CHECK(suits_tiles(is_source ? PlannedCopies::plan(extent, there, staged)
                                      : PlannedCopies::plan(extent, staged, there),
                            8));
        }
        std::size_t const bytes =
            std::accumulate(extents.begin(), extents.end(), std::size_t(8), std::multiplies<>());
        CHECK(longest <= most);
        CHECK(boxes.size() <= 2 * bytes / most + 2);
      }
}

}  // namespace StagedBoxes
