// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Run where hwloc cannot load: memory is had all the same.

#include "../../../backend/Config.hpp"
#include "../../../backend/os/Topology.hpp"
#include "../BackendTest.hpp"

TEST_CASE("memory is had where hwloc cannot load or shall not be asked") {
  for (int const node : {-1, 0}) {
    Region const region = lock_fresh_pages(8 * huge_page_bytes, MemoryKind::page_locked, node);
    REQUIRE(region.pointer != nullptr);
    CHECK(region.numa_node == -1);
    std::memset(region.pointer, 1, region.bytes);
    CHECK(give_back(region));
  }
}

TEST_CASE("of a machine that hwloc cannot load the cores are known, and no node") {
  if (!config().numa) SKIP("hwloc is not asked here");
  Topology const& machine = Topology::machine();
  CHECK(machine.allowed_cores(-1) == Cores::allowed().count());
  CHECK(machine.allowed_cores(0) == 0);
  CHECK(machine.allowed_nodes().empty());
  CHECK(machine.nearest_node("0000:17:00.0") == -1);
  int page = 0;
  CHECK(machine.node_of(&page, sizeof page) == -1);
  CHECK_FALSE(machine.bind_memory(&page, sizeof page, 0));
  CHECK_FALSE(machine.is_known());
}
