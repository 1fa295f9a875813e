// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The machine of tests on the fake runtime has measured thresholds: planning uses them, and not the
// table's.

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <catch2/catch_test_macros.hpp>

namespace KokkosHostSpaces::Impl {

CopyThresholds thresholds_of_this_machine() noexcept {
  CopyThresholds thresholds;
  thresholds.equal_run_bytes *= 4;
  thresholds.slabs_from_bytes *= 4;
  thresholds.slabs_to_host_from_bytes += 17 << 20;
  return thresholds;
}

TEST_CASE("copies are planned by the thresholds of the machine", "[thresholds]") {
  std::size_t const run       = copy_thresholds.equal_run_bytes;
  std::size_t const extents[] = {run, 100}, dense[] = {1, run}, gaps[] = {1, 2 * run};
  CHECK_FALSE(copy_engine_is_faster(make_copy_plan(2, 2, extents, dense, gaps), true));
  CHECK(copy_engine_is_faster(make_copy_plan(4, 2, extents, dense, gaps), true));

  constexpr std::size_t rows_of_MiB = (1 << 20) / sizeof(double) / 1024;
  CopySides sides{.same_type                = true,
                  .pageable_source          = false,
                  .pageable_destination     = false,
                  .both_page_locked         = false,
                  .device_reads_host_memory = true,
                  .link_way                 = LinkWay::to_device};
  auto const turned = [&](std::size_t bytes) {
    std::size_t const rows  = (bytes >> 20) * rows_of_MiB;
    std::size_t const all[] = {rows, 1024}, to[] = {1024, 1}, from[] = {1, rows};
    return choose_way(make_copy_plan(sizeof(double), 2, all, to, from), sides);
  };
  for (LinkWay const way : {LinkWay::to_device, LinkWay::to_host}) {
    sides.link_way                 = way;
    sides.device_reads_host_memory = way == LinkWay::to_device;
    std::size_t const least        = way == LinkWay::to_device
                                         ? 4 * copy_thresholds.slabs_from_bytes
                                         : copy_thresholds.slabs_to_host_from_bytes + (17 << 20);
    CHECK(turned(least / 4) == CopyWay::tiled_kernel);
    CHECK(turned(least - (1 << 20)) == CopyWay::tiled_kernel);
    CHECK(turned(least) == CopyWay::tiled_slabs);
  }
}

TEST_CASE("to the host slabs do not begin before they pay on their way to the device",
          "[thresholds]") {
  CopyThresholds of;
  of.slabs_from_bytes         = 20 << 20;
  of.slabs_to_host_from_bytes = 10 << 20;
  CHECK(of.slabs_from(false) == std::size_t(20) << 20);
  CHECK(of.slabs_from(true) == std::size_t(20) << 20);
  of.slabs_to_host_from_bytes = 30 << 20;
  CHECK(of.slabs_from(false) == std::size_t(20) << 20);
  CHECK(of.slabs_from(true) == std::size_t(30) << 20);
}

}  // namespace KokkosHostSpaces::Impl
