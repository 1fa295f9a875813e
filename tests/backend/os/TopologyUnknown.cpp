// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What holds where the library is built without hwloc.

#include "../../../backend/Error.hpp"
#include "../../../backend/os/Topology.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace KokkosHostSpaces;
using KokkosHostSpaces::Impl::Backend::Topology;

TEST_CASE("without hwloc no device is near to a node, and no memory is bound to one") {
  Topology const& machine = Topology::machine();
  CHECK(machine.nearest_node("0000:17:00.0") == -1);
  CHECK(machine.allowed_nodes().empty());
  CHECK(machine.allowed_cores(0) == 0);
  int page = 0;
  CHECK(machine.node_of(&page, sizeof page) == -1);
  CHECK_FALSE(machine.bind_memory(&page, sizeof page, 0));
}

TEST_CASE("without hwloc a description of a machine is refused") {
  CHECK_THROWS_AS(Topology::from_xml("<topology/>"), Error);
}
