// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "PlannedCopies.hpp"

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <catch2/catch_test_macros.hpp>

#include <vector>

using namespace KokkosHostSpaces::Impl;

using PlannedCopies::plan;

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

TEST_CASE("pageable memory is staged where few calls cannot carry it", "[copy_plan]") {
  CopySides sides{.same_type                = true,
                  .pageable_source          = false,
                  .pageable_destination     = true,
                  .both_page_locked         = false,
                  .device_reads_host_memory = false};
  CHECK(choose_way(plan({100, 100}, {100, 1}, {1, 100}), sides) == CopyWay::staged);
  CHECK(choose_way(plan({100, 100}, {100, 1}, {100, 1}), sides) == CopyWay::one_copy);
  CHECK(choose_way(plan({100, 100}, {128, 1}, {100, 1}), sides) == CopyWay::boxes);
  sides.same_type = false;
  CHECK(choose_way(plan({100, 100}, {100, 1}, {100, 1}), sides) == CopyWay::staged);
}
