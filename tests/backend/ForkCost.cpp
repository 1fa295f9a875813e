// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a fork costs beside page-locked memory. Needs a device: it alone makes the system copy.

#include "os/AvailableMemory.hpp"
#include "BackendTest.hpp"

#include <csignal>

#include <sys/wait.h>

namespace {

constexpr std::size_t size = 4 * GiB;

struct Cost {
  double seconds;
  double gibibytes;  ///< that the machine has less while the child lives
};

Cost cost_of_fork() {
  std::size_t const before = available_memory();
  auto const start         = std::chrono::steady_clock::now();
  pid_t const child        = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  std::chrono::duration<double> const time = std::chrono::steady_clock::now() - start;
  std::size_t const meanwhile              = available_memory();
  REQUIRE(child > 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return {time.count(), (double(before) - double(meanwhile)) / double(GiB)};
}

void check_cheap(Cost const& cost) {
  WARN("fork beside 4 GiB of page-locked memory: " << cost.seconds * 1e3 << " ms, "
                                                   << cost.gibibytes << " GiB");
  CHECK(cost.seconds < 0.3);
  CHECK(cost.gibibytes < 1);
}

}  // namespace

TEST_CASE("a fork beside 4 GiB of ours takes neither time nor memory", "[cost]") {
  start_test(1);
  if (available_memory() < 3 * size) SKIP("needs 12 GiB of memory");
  Region const region = lock_fresh(size);
  check_cheap(cost_of_fork());
  CHECK(give_back(region));
}

TEST_CASE("a fork beside 4 GiB of the user's takes neither, if they are kept from children",
          "[cost]") {
  start_test(1);
  if (available_memory() < 3 * size) SKIP("needs 12 GiB of memory");
  void* const pages = map_pages(size);
  REQUIRE(pages != nullptr);
  use_huge_pages(pages, size);
  first_touch(pages, size, {16, Cores::allowed()});
  register_range(pages, size, "copied");
  Cost const copied = cost_of_fork();
  WARN("and where children copy it: " << copied.seconds * 1e3 << " ms, " << copied.gibibytes
                                      << " GiB");
  CHECK(unregister_range(pages).empty());
  register_range(pages, size, "kept", true);
  check_cheap(cost_of_fork());
  CHECK(unregister_range(pages).empty());
  unmap_pages(pages, size);
}
