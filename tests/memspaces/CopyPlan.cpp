// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

using namespace KokkosHostSpaces::Impl;

namespace {

CopyPlan plan(std::vector<std::size_t> extents, std::vector<std::size_t> dst,
              std::vector<std::size_t> src) {
  return make_copy_plan(8, int(extents.size()), extents.data(), dst.data(), src.data());
}

void walk(char* dst, char const* src, CopyPlan const& p, int loop) {
  if (loop < 0) {
    std::memcpy(dst, src, p.run_bytes);
    return;
  }
  for (std::size_t i = 0; i < p.extent[loop]; ++i)
    walk(dst + i * p.dst_stride[loop], src + i * p.src_stride[loop], p, loop - 1);
}

// In elements, the dimensions of `order` from the fastest on, each with a gap behind it.
std::vector<std::size_t> strides(std::vector<std::size_t> const& extents,
                                 std::vector<std::size_t> const& order, std::size_t gap) {
  std::vector<std::size_t> result(extents.size());
  std::size_t next = 1;
  for (std::size_t const r : order) {
    result[r] = next;
    next *= extents[r] + gap;
  }
  return result;
}

}  // namespace

TEST_CASE("a dense copy is one run, in either layout and with extents of one", "[copy_plan]") {
  CHECK(plan({10, 20}, {20, 1}, {20, 1}).run_bytes == 1600);
  CHECK(plan({10, 20}, {20, 1}, {20, 1}).contiguous());
  CHECK(plan({10, 20}, {1, 10}, {1, 10}).run_bytes == 1600);
  CHECK(plan({1, 20}, {999, 1}, {5, 1}).contiguous());
  CHECK(plan({}, {}, {}).run_bytes == 8);
}

TEST_CASE("an empty extent leaves nothing to copy", "[copy_plan]") {
  CHECK(plan({10, 0}, {1, 10}, {1, 10}).run_bytes == 0);
}

TEST_CASE("a sub-matrix is one loop over rows", "[copy_plan]") {
  CopyPlan const p = plan({10, 20}, {20, 1}, {64, 1});
  CHECK(p.run_bytes == 160);
  REQUIRE(p.loops == 1);
  CHECK(p.extent[0] == 10);
  CHECK(p.dst_stride[0] == 160);
  CHECK(p.src_stride[0] == 512);
  CHECK(p.engine_calls() == 1);
  CHECK(p.suits_copy_engine());
}

TEST_CASE("dimensions that both sides walk without a gap are merged", "[copy_plan]") {
  // A block of full planes, and rows that go on across planes.
  CHECK(plan({4, 10, 20}, {400, 20, 1}, {200, 20, 1}).loops == 1);
  CHECK(plan({4, 10, 20}, {640, 64, 1}, {320, 32, 1}).loops == 1);
  CHECK(plan({4, 10, 20}, {640, 64, 1}, {320, 32, 1}).extent[0] == 40);
}

TEST_CASE("a transposition has runs of one element and no use of the copy engine", "[copy_plan]") {
  CopyPlan const p = plan({10, 20}, {20, 1}, {1, 10});
  CHECK(p.run_bytes == 8);
  CHECK(p.loops == 2);
  CHECK_FALSE(copy_engine_is_faster(p, true));

  CopyPlan const large = plan({1000, 2000}, {2000, 1}, {1, 1000});
  CHECK(large.engine_calls() >= 1000);
  CHECK_FALSE(copy_engine_is_faster(large, false));
}

TEST_CASE("overlapping strides, as of a broadcast row, do not go to the copy engine",
          "[copy_plan]") {
  CHECK_FALSE(plan({10, 20}, {20, 1}, {0, 1}).suits_copy_engine());
}

TEST_CASE("pageable memory of a broadcast is staged as one piece, and not run by run",
          "[copy_plan]") {
  CopyPlan const broadcast = plan({1000000}, {1}, {0});
  CHECK(broadcast.engine_calls() == 1000000);
  CHECK(staged_as_one_piece(broadcast, 8000000, 8));
  CHECK(staged_as_one_piece(plan({1000, 1000}, {1000, 1}, {1, 0}), 8000000, 8000));
  // Not where a piece would be much larger than its contents, or a call is enough.
  CHECK_FALSE(staged_as_one_piece(plan({100, 100, 100}, {10000, 100, 1}, {1, 100000, 1000}),
                                  8000000, 80000000));
  CHECK_FALSE(staged_as_one_piece(plan({1000}, {1}, {2}), 8000, 16000));
}

TEST_CASE("many rows of 64 bytes in planes go by a kernel of their own", "[copy_plan]") {
  constexpr std::size_t gib = std::size_t(1) << 30;
  auto const planes         = [](std::size_t count, std::size_t run, std::size_t row) {
    return plan({count, 64, run}, {128 * row, row, 1}, {64 * run, run, 1});
  };
  CHECK(suits_row_kernel(planes(1024, 8, 16), gib));
  CHECK_FALSE(suits_row_kernel(planes(16, 8, 16), gib));        // few
  CHECK_FALSE(suits_row_kernel(planes(1024, 16, 32), gib));     // longer rows
  CHECK_FALSE(suits_row_kernel(planes(4096, 4, 16), gib));      // shorter ones
  CHECK_FALSE(suits_row_kernel(planes(1024, 8, 16), gib + 8));  // not by words of 16 bytes
  CHECK_FALSE(suits_row_kernel(planes(1024, 8, 17), gib));
  CHECK_FALSE(suits_row_kernel(plan({65536, 8}, {16, 1}, {8, 1}), gib));             // no planes
  CHECK_FALSE(suits_row_kernel(plan({1024, 64, 8}, {0, 16, 1}, {512, 8, 1}), gib));  // one plane
  CopySides sides{.same_type                = true,
                  .pageable_source          = false,
                  .pageable_destination     = false,
                  .both_page_locked         = false,
                  .device_reads_host_memory = false,
                  .addresses                = gib,
                  .link_way                 = LinkWay::to_host};
  CHECK(choose_way(planes(1024, 8, 16), sides) == CopyWay::row_kernel);
  CHECK(choose_way(planes(16, 8, 16), sides) == CopyWay::boxes);
  sides.same_type = false;
  CHECK(choose_way(planes(1024, 8, 16), sides) == CopyWay::element_kernel);
  sides.same_type = true;
  sides.link_way  = LinkWay::none;
  CHECK(choose_way(planes(1024, 8, 16), sides) == CopyWay::boxes);
}

TEST_CASE("short runs are read by a kernel and written by the copy engine", "[copy_plan]") {
  CopyPlan const every_other = plan({1000}, {1}, {2});
  CHECK_FALSE(copy_engine_is_faster(every_other, true));
  CHECK(copy_engine_is_faster(every_other, false));
  CHECK(copy_engine_is_faster(plan({1000, 8}, {8, 1}, {16, 1}), true));
}

TEST_CASE("plans of more than three dimensions, or of crooked planes, need several calls",
          "[copy_plan]") {
  CHECK(
      plan({3, 4, 5, 6, 7}, {10000, 2000, 300, 20, 1}, {20000, 3000, 420, 30, 1}).engine_calls() ==
      12);
  CHECK(
      plan({3, 4, 5, 6, 7}, {10000, 2000, 300, 20, 1}, {20000, 3000, 400, 30, 1}).engine_calls() ==
      60);
}

TEST_CASE("cut for staging, a copy moves what it moves in one, through no more memory than allowed",
          "[copy_plan]") {
  std::vector<std::size_t> const extents = {7, 5, 12};
  std::vector<std::size_t> left = {0, 1, 2}, order = left;
  do {
    for (std::size_t const gap : {0, 1})
      for (bool const pageable_source : {true, false})
        for (std::size_t const most : {1, 700, 1500, 100000}) {
          auto const from       = strides(extents, left, pageable_source ? 0 : gap);
          auto const to         = strides(extents, order, pageable_source ? gap : 0);
          CopyPlan const p      = plan(extents, to, from);
          std::size_t const all = 8 * 8 * 6 * 13;  // elements of the larger side
          if (p.run_bytes != 8) continue;          // a line of both: that is for the copy engine
          std::vector<char> src(all * 8), whole(all * 8), parts(all * 8), staging(all * 8);
          for (std::size_t i = 0; i < src.size(); ++i) src[i] = char(i * 2654435761u >> 16);
          walk(whole.data(), src.data(), p, p.loops - 1);
          std::size_t bytes = 0;
          for (StagedPart const& part : cut_for_staging(p, pageable_source, most)) {
            walk(staging.data(), src.data() + part.src_offset, part.to_staging,
                 part.to_staging.loops - 1);
            walk(parts.data() + part.dst_offset, staging.data(), part.from_staging,
                 part.from_staging.loops - 1);
            CHECK(part.bytes == part.to_staging.bytes());
            CHECK(part.bytes == part.from_staging.bytes());
            CHECK((part.bytes <= most || most < 12 * 7 * 8));
            bytes += part.bytes;
          }
          CHECK(std::equal(parts.begin(), parts.end(), whole.begin()));
          CHECK(bytes == p.bytes());
          CHECK(bytes == extents[0] * extents[1] * extents[2] * 8);
        }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("large pageable memory in another order of dimensions is staged in parts",
          "[copy_plan]") {
  std::size_t const n   = 4096;
  CopySides const sides = {.same_type                = true,
                           .pageable_source          = false,
                           .pageable_destination     = true,
                           .both_page_locked         = false,
                           .device_reads_host_memory = false};
  CHECK(choose_way(plan({n, n}, {n, 1}, {1, n}), sides) == CopyWay::staged_in_parts);
  CHECK(choose_way(plan({n / 4, n}, {n, 1}, {1, n}), sides) == CopyWay::staged_destination);
  // Nor where the pageable side has lines with gaps in all dimensions, which take many calls.
  CHECK(choose_way(
            plan({64, 64, 64, 64}, {80 * 80 * 80, 80 * 80, 80, 1}, {1, 64, 64 * 64, 64 * 64 * 64}),
            sides) == CopyWay::staged_destination);
}

TEST_CASE(
    "each part of what is staged is carried by few calls, also where the last dimensions are short",
    "[copy_plan]") {
  std::size_t const million = 1000000;
  for (std::vector<std::size_t> const& extents : {std::vector<std::size_t>{4 * million, 3, 3},
                                                  {million, 8, 17},
                                                  {million, 3, 9},
                                                  {8, million, 17},
                                                  {100 * million, 2},
                                                  {2 * million, 2, 2, 3, 3}})
    for (bool const pageable_source : {true, false})
      for (bool const is_turned : {true, false}) {
        std::vector<std::size_t> order(extents.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        auto const left = strides(extents, order, 0);
        std::reverse(order.begin(), order.end());
        auto const right    = strides(extents, order, 0);
        CopyPlan const copy = is_turned ? plan(extents, right, left) : plan(extents, left, right);
        CopySides const sides{.same_type                = true,
                              .pageable_source          = pageable_source,
                              .pageable_destination     = !pageable_source,
                              .both_page_locked         = false,
                              .device_reads_host_memory = pageable_source};
        INFO(extents[0] << " x " << extents[1] << ", " << pageable_source << is_turned);
        if (copy.suits_copy_engine()) continue;  // in few calls as a whole
        REQUIRE(choose_way(copy, sides) == CopyWay::staged_in_parts);
        std::size_t calls = 0, most = 0;
        auto const parts = cut_for_staging(copy, pageable_source, copy_thresholds.staging_bytes);
        for (StagedPart const& part : parts) {
          for (CopyPlan const& half : {part.to_staging, part.from_staging})
            calls += suits_tiles(half, 8) ? 1 : half.engine_calls();
          most = std::max(most, part.bytes);
        }
        CHECK(calls <= 17 * parts.size());
        CHECK(most <= copy_thresholds.staging_bytes);
        CHECK(parts.size() <= 2 * copy.bytes() / copy_thresholds.staging_bytes + 1);
      }
}
