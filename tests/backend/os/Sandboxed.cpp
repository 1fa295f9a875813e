// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What holds in a container that forbids a process to place its memory, or to ask the system.

#include "../../../backend/Placement.hpp"
#include "../../../backend/os/Topology.hpp"
#include "../BackendTest.hpp"

#include <cerrno>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace {

// As the default profile of Docker does with SYS_mbind.
bool forbid(unsigned call) {
  constexpr unsigned short load = BPF_LD | BPF_W | BPF_ABS, compare = BPF_JMP | BPF_JEQ | BPF_K,
                           end      = BPF_RET | BPF_K;
  std::array<sock_filter, 4> filter = {{{load, 0, 0, offsetof(seccomp_data, nr)},
                                        {compare, 0, 1, call},
                                        {end, 0, 0, SECCOMP_RET_ERRNO | EPERM},
                                        {end, 0, 0, SECCOMP_RET_ALLOW}}};
  sock_fprog const program          = {filter.size(), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// As without /proc and /sys.
bool forbid_files() {
  rlimit const none = {0, 0};
  return setrlimit(RLIMIT_NOFILE, &none) == 0;
}

}  // namespace

TEST_CASE("where memory cannot be bound, threads of the node touch it, and the caller does not") {
  Topology const& machine = Topology::machine();
  if (machine.allowed_nodes().empty()) SKIP("this machine tells of no node");
  int const node   = machine.allowed_nodes().front();
  int const status = ChildOfFork::status([&] {
    if (!forbid(SYS_mbind)) return 2;
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

TEST_CASE("where the system does not tell how much memory there is, memory is had") {
  int const status = ChildOfFork::status([] {
    if (!forbid(SYS_sysinfo)) return 2;
    return most_memory() > 0 && map_pages(huge_page_bytes) != nullptr ? 0 : 1;
  });
  if (status == 2) SKIP("this system does not let a process forbid itself anything");
  CHECK(status == 0);
}

TEST_CASE("a hole is told also where no file of the system can be read") {
  std::size_t const bytes = 2 * huge_page_bytes;
  auto* const begin       = static_cast<char*>(map_pages(bytes));
  REQUIRE(begin != nullptr);
  unmap_pages(begin + page_bytes(), bytes - 2 * page_bytes());
  CHECK(ChildOfFork::status([&] {
          bool const told = forbid_files() &&
                            report_on_range(begin, bytes).state == RangeState::not_mapped &&
                            report_on_range(begin, 1).state == RangeState::writable;
          return told ? 0 : 1;
        }) == 0);
  unmap_pages(begin, page_bytes());
  unmap_pages(begin + bytes - page_bytes(), page_bytes());
}

TEST_CASE("huge pages are had also where no file of the system tells of them") {
  CHECK(ChildOfFork::status([] {
          void* const pages = map_pages(huge_page_bytes);
          bool const are    = madvise(pages, huge_page_bytes, MADV_HUGEPAGE) == 0;
          return forbid_files() && use_huge_pages(pages, huge_page_bytes) == are ? 0 : 1;
        }) == 0);
}
