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

TEST_CASE("each GPU of a machine with two nodes has its own nearest node") {
  Topology const machine = load("two-nodes.xml");
  CHECK(machine.nearest_node("0000:17:00.0") == 0);
  CHECK(machine.nearest_node("0000:BD:00.0") == 1);
  CHECK(machine.allowed_nodes() == std::vector<int>{0, 1});
}

TEST_CASE("an unknown device is near to no node") {
  Topology const machine = load("two-nodes.xml");
  CHECK(machine.nearest_node("0000:99:00.0") == -1);
  CHECK(machine.nearest_node("not a bus id") == -1);
}

TEST_CASE("on a machine with one node there is nothing to choose") {
  Topology const machine = load("one-node.xml");
  CHECK(machine.nearest_node("0000:17:00.0") == -1);
  CHECK(machine.allowed_nodes() == std::vector<int>{0});
}

TEST_CASE("a node that is not allowed is never the nearest one") {
  Topology const machine = load("disallowed-node.xml");
  CHECK(machine.allowed_nodes() == std::vector<int>{0});
  CHECK(machine.nearest_node("0000:BD:00.0") == -1);
}

TEST_CASE("cores are counted by node, and only those that are allowed") {
  Topology const two = load("two-nodes.xml");
  CHECK(two.allowed_cores(0) == 2);
  CHECK(two.allowed_cores(1) == 2);
  CHECK(two.allowed_cores(-1) == 4);
  CHECK(two.allowed_cores(7) == 0);
  Topology const fewer = load("disallowed-node.xml");
  CHECK(fewer.allowed_cores(0) == 2);
  CHECK(fewer.allowed_cores(-1) == 3);
}

TEST_CASE("the memory of a GPU that is a node is never chosen") {
  Topology const machine = load("gpu-memory-nodes.xml");  // nodes 0 and 1 are memory of GPUs
  CHECK(machine.nearest_node("0000:17:00.0") == 2);
  CHECK(machine.nearest_node("0000:BD:00.0") == 3);
}

TEST_CASE("each GPU of a host with two GB200 is near to the memory of its CPU") {
  Topology const machine = load("gb200.xml");
  CHECK(machine.nearest_node("0000:17:00.0") == 0);
  CHECK(machine.nearest_node("0000:18:00.0") == 0);
  CHECK(machine.nearest_node("0000:1A:00.0") == 1);
}

TEST_CASE("where the nearest node has no memory the next one is taken") {
  Topology const machine = load("node-without-memory.xml");
  CHECK(machine.nearest_node("0000:17:00.0") == 2);  // beside node 0, which has no memory
  CHECK(machine.nearest_node("0000:BD:00.0") == 1);
}

TEST_CASE("failure 18: where the nearest node has no cores the next one is taken") {
  // Nodes 0 and 1 have none, nodes 2 and 3 lie beside them.
  Topology const machine = load("nodes-without-cores.xml", "2-3");
  CHECK(machine.nearest_node("0000:17:00.0") == 2);
  CHECK(machine.nearest_node("0000:BD:00.0") == 3);
  // With one node left there is nothing to choose.
  CHECK(load("nodes-without-cores.xml", "2").nearest_node("0000:BD:00.0") == -1);
}

TEST_CASE("where no node of a package can be used one of the packages around it is taken") {
  CHECK(load("groups-of-packages.xml").nearest_node("0000:17:00.0") == 0);
  Topology const machine = load("groups-of-packages.xml", "1-2");
  CHECK(machine.nearest_node("0000:17:00.0") == 1);
  CHECK(machine.nearest_node("0000:BD:00.0") == 2);
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
