// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What holds in a container that forbids a process to place its memory.

#include "../../backend/Placement.hpp"
#include "../../backend/os/Pages.hpp"
#include "../../backend/os/Topology.hpp"
#include "../support/ChildOfFork.hpp"

#include <array>
#include <cerrno>
#include <cstddef>

#include <catch2/catch_test_macros.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

using namespace KokkosHostSpaces::Impl;

namespace {

// As the default profile of Docker does.
bool forbid_mbind() {
  constexpr unsigned short load = BPF_LD | BPF_W | BPF_ABS, compare = BPF_JMP | BPF_JEQ | BPF_K,
                           end      = BPF_RET | BPF_K;
  std::array<sock_filter, 4> filter = {{{load, 0, 0, offsetof(seccomp_data, nr)},
                                        {compare, 0, 1, SYS_mbind},
                                        {end, 0, 0, SECCOMP_RET_ERRNO | EPERM},
                                        {end, 0, 0, SECCOMP_RET_ALLOW}}};
  sock_fprog const program          = {filter.size(), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

TEST_CASE("where memory cannot be bound, threads of the node touch it, and the caller does not") {
  Topology const& machine = Topology::machine();
  if (machine.allowed_nodes().empty()) SKIP("this machine tells of no node");
  int const node   = machine.allowed_nodes().front();
  int const status = ChildOfFork::status([&] {
    if (!forbid_mbind()) return 2;
    void* const pages   = map_pages(8 * huge_page_bytes);
    Placed const placed = place_pages(pages, 8 * huge_page_bytes, node, Config());
    first_touch(pages, 8 * huge_page_bytes, placed.team);
    bool const is_near = !placed.team.caller_helps && placed.team.threads > 0 &&
                         placed.team.cores.count() == machine.cores_for(node).count();
    return placed.numa_node == -1 && is_near ? 0 : 1;
  });
  if (status == 2) SKIP("this system does not let a process forbid itself anything");
  CHECK(status == 0);
}
