// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>

#include "../../support/Tests.hpp"

using namespace KokkosHostSpaces::Impl;

namespace {

using Numbers = std::vector<std::size_t>;

// Of elements of 8 bytes.
CopyPlan plan(Numbers const& extents, Numbers const& dst, Numbers const& src) {
  return make_copy_plan(8, int(extents.size()), extents.data(), dst.data(), src.data());
}

}  // namespace

TEST_CASE("a dense copy is one run, in either layout and with extents of one", "[copy_plan]") {
  CHECK(plan({10, 20}, {20, 1}, {20, 1}).run_bytes == 1600);
  CHECK(plan({10, 20}, {20, 1}, {20, 1}).contiguous());
  CHECK(plan({10, 20}, {1, 10}, {1, 10}).run_bytes == 1600);
  CHECK(plan({1, 20}, {999, 1}, {5, 1}).contiguous());
  CHECK(plan({}, {}, {}).run_bytes == 8);
  CHECK(plan({10, 0}, {1, 10}, {1, 10}).run_bytes == 0);
}

TEST_CASE("a sub-matrix is one call, also of full planes and of rows that continue across planes",
          "[copy_plan]") {
  CopyPlan const p = plan({10, 20}, {20, 1}, {64, 1});
  CHECK(p.run_bytes == 160);
  CHECK(p.loops == 1);
  CHECK(p.engine_calls() == 1);
  CHECK(p.suits_copy_engine());
  CHECK(plan({4, 10, 20}, {400, 20, 1}, {200, 20, 1}).loops == 1);
  CHECK(plan({4, 10, 20}, {640, 64, 1}, {320, 32, 1}).loops == 1);
}

TEST_CASE("plans of more than three dimensions, or of crooked planes, need several calls",
          "[copy_plan]") {
  Numbers const extents = {3, 4, 5, 6, 7}, to = {10000, 2000, 300, 20, 1};
  CHECK(plan(extents, to, {20000, 3000, 420, 30, 1}).engine_calls() == 12);
  CHECK(plan(extents, to, {20000, 3000, 400, 30, 1}).engine_calls() == 60);
}

TEST_CASE("a kernel copies more planes than the driver queues without waiting", "[copy_plan]") {
  CopySides sides{.same_type                = true,
                  .pageable_source          = false,
                  .pageable_destination     = false,
                  .both_page_locked         = false,
                  .device_reads_host_memory = false};
  auto const way = [&](std::size_t planes) {
    return choose_way(plan({planes, 64, 8}, {512, 8, 1}, {2048, 16, 1}), sides);
  };
  for (bool const reads : {false, true}) {
    sides.device_reads_host_memory = reads;
    CHECK(way(16384) == CopyWay::boxes);
    CHECK(way(65536) == CopyWay::element_kernel);
  }
  sides.pageable_source = true;  // CUDA may wait
  CHECK(way(65536) == CopyWay::boxes);
}

TEST_CASE("each copy goes the way that suits it", "[copy_plan]") {
  CopyPlan const dense      = plan({100, 100}, {100, 1}, {100, 1}),
                 rows       = plan({100, 100}, {128, 1}, {100, 1}),
                 transposed = plan({100, 100}, {100, 1}, {1, 100}),
                 repeated = plan({10, 20}, {20, 1}, {0, 1}), thin = plan({1000}, {1}, {2});
  CopySides sides{.same_type                = true,
                  .pageable_source          = false,
                  .pageable_destination     = false,
                  .both_page_locked         = false,
                  .device_reads_host_memory = false};
  CHECK(choose_way({}, sides) == CopyWay::nothing);
  CHECK(choose_way(dense, sides) == CopyWay::one_copy);
  CHECK(choose_way(rows, sides) == CopyWay::boxes);
  CHECK(choose_way(transposed, sides) == CopyWay::tiled_kernel);
  CHECK(choose_way(repeated, sides) == CopyWay::element_kernel);
  CHECK(choose_way(thin, sides) == CopyWay::boxes);
  sides.device_reads_host_memory = true;  // faster by a kernel for short runs
  CHECK(choose_way(thin, sides) == CopyWay::element_kernel);
  CHECK(choose_way(rows, sides) == CopyWay::boxes);
  sides.both_page_locked = true;
  CHECK(choose_way(dense, sides) == CopyWay::byte_kernel);
  sides.both_page_locked     = false;
  sides.pageable_destination = true;
  CHECK(choose_way(dense, sides) == CopyWay::one_copy);
  CHECK(choose_way(rows, sides) == CopyWay::boxes);
  CHECK(choose_way(transposed, sides) == CopyWay::staged);
  sides.same_type = false;
  CHECK(choose_way(dense, sides) == CopyWay::staged);
  sides.pageable_destination = false;
  CHECK(choose_way(dense, sides) == CopyWay::element_kernel);
}
