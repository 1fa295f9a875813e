// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What holds of the machine that runs the test, with hwloc and without.

#include "../../../backend/os/Topology.hpp"

#include <thread>

#include <catch2/catch_test_macros.hpp>

#include <sched.h>

using KokkosHostSpaces::Impl::Backend::Topology;

TEST_CASE("this machine has a core, and a thread can be bound to all that it has") {
  Topology const& machine = Topology::machine();
  REQUIRE(machine.allowed_cores(-1) > 0);
  // In a thread of its own, so that the test's thread keeps its affinity.
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(machine.cores(-1).bind_this_thread());
    cpu_set_t bound;
    CHECK(sched_getaffinity(0, sizeof bound, &bound) == 0);
    CHECK(CPU_COUNT(&bound) == machine.allowed_cores(-1));
  }).join();
}

TEST_CASE("a node that this machine lacks is refused") {
  CHECK_FALSE(Topology::machine().cores(999).bind_this_thread());
}
