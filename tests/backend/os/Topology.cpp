// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/os/Topology.hpp"
#include "../BackendTest.hpp"

#include <fstream>
#include <sstream>

namespace {

// A file without comments: hwloc without libxml2 cannot read them.
Topology load(std::string const& name, std::string const& nodes_with_cores = "") {
  std::ifstream const file(KOKKOS_HOST_SPACES_TEST_TOPOLOGIES "/" + name);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return Topology::from_xml(text.str(), nodes_with_cores);
}

}  // namespace

TEST_CASE("failure 18: where the nearest node has no cores the next one is taken") {
  struct Case {
    char const *machine, *nodes_with_cores, *device;
    int nearest;
  };
  auto const [machine, nodes_with_cores, device, nearest] =
      GENERATE(Case{"two-nodes.xml", "", "0000:17:00.0", 0},  //
               Case{"two-nodes.xml", "", "0000:BD:00.0", 1},
               Case{"two-nodes.xml", "", "0000:99:00.0", -1},  // not there
               Case{"two-nodes.xml", "", "not a bus id", -1},
               Case{"one-node.xml", "", "0000:17:00.0", -1},         // nothing to choose
               Case{"disallowed-node.xml", "", "0000:BD:00.0", -1},  // as well
               Case{"gpu-memory-nodes.xml", "", "0000:17:00.0", 2},  // 0 and 1 are memory of GPUs
               Case{"gpu-memory-nodes.xml", "", "0000:BD:00.0", 3},
               Case{"gb200.xml", "", "0000:17:00.0", 0},  // the memory of its CPU
               Case{"gb200.xml", "", "0000:18:00.0", 0}, Case{"gb200.xml", "", "0000:1A:00.0", 1},
               Case{"node-without-memory.xml", "", "0000:17:00.0", 2},  // beside node 0
               Case{"node-without-memory.xml", "", "0000:BD:00.0", 1},
               // Nodes 0 and 1 have no cores, nodes 2 and 3 lie beside them.
               Case{"nodes-without-cores.xml", "2-3", "0000:17:00.0", 2},
               Case{"nodes-without-cores.xml", "2-3", "0000:BD:00.0", 3},
               Case{"nodes-without-cores.xml", "2", "0000:BD:00.0", -1},
               // No node of the package can be used: one of the packages around it.
               Case{"groups-of-packages.xml", "", "0000:17:00.0", 0},
               Case{"groups-of-packages.xml", "1-2", "0000:17:00.0", 1},
               Case{"groups-of-packages.xml", "1-2", "0000:BD:00.0", 2});
  CAPTURE(machine, nodes_with_cores, device);
  CHECK(load(machine, nodes_with_cores).nearest_node(device) == nearest);
}

TEST_CASE("cores are counted by node, and only those that are allowed") {
  Topology const two = load("two-nodes.xml");
  CHECK(two.allowed_cores(0) == 2);
  CHECK(two.allowed_cores(1) == 2);
  CHECK(two.allowed_cores(-1) == 4);
  CHECK(two.allowed_cores(7) == 0);
  CHECK(two.allowed_nodes() == std::vector<int>{0, 1});
  Topology const fewer = load("disallowed-node.xml");
  CHECK(fewer.allowed_cores(0) == 2);
  CHECK(fewer.allowed_cores(-1) == 3);
  CHECK(fewer.allowed_nodes() == std::vector<int>{0});
}

TEST_CASE(
    "failure 18: where no core of a node is allowed its memory is taken, and any core touches it") {
  Topology const machine = load("node-without-allowed-cores.xml");
  CHECK(machine.nearest_node("0000:BD:00.0") == 1);
  CHECK(machine.allowed_cores(1) == 0);
  CHECK(machine.cores_for(1).count() == 2);
  CHECK(machine.cores_for(0).count() == 2);
  CHECK(load("two-nodes.xml").cores_for(1).count() == 2);
}

TEST_CASE("a description that is not XML is refused") {
  CHECK_THROWS_AS(Topology::from_xml("no machine"), Error);
}

TEST_CASE("this machine has a node") { CHECK_FALSE(Topology::machine().allowed_nodes().empty()); }

TEST_CASE("pages lie on the node that they were bound to") {
  Topology const& machine = Topology::machine();
  for (int const node : machine.allowed_nodes()) {
    void* const pages = map_pages(huge_page_bytes);
    REQUIRE(pages != nullptr);
    bool const bound = machine.bind_memory(pages, huge_page_bytes, node);
    first_touch(pages, huge_page_bytes, {});
    int const found = machine.node_of(pages, huge_page_bytes);
    unmap_pages(pages, huge_page_bytes);
    if (!bound || found < 0) SKIP("this system does not let a process place memory");
    CHECK(found == node);
  }
}

TEST_CASE("of another machine nobody knows where pages lie") {
  int const on_stack = 0;
  CHECK(load("two-nodes.xml").node_of(&on_stack, sizeof on_stack) == -1);
}
