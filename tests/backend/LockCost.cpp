// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What page-locked memory costs the machine with a real device: nothing for ever, and a fork beside it neither time nor
// memory. (perf/ compares how long locking takes.)

#include "os/AvailableMemory.hpp"
#include "BackendTest.hpp"

#include <csignal>
#include <cuda_runtime_api.h>
#include <sys/wait.h>

namespace {

// Pages that some driver holds at the moment.
std::ptrdiff_t pinned_pages() {
  return static_cast<std::ptrdiff_t>(figure_in("/proc/vmstat", "nr_foll_pin_acquired")) -
         static_cast<std::ptrdiff_t>(figure_in("/proc/vmstat", "nr_foll_pin_released"));
}

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

TEST_CASE("failure 12: locking that fails half-way leaves no page locked", "[cost]") {
  start_test(1);
  std::size_t const bytes = 256 * MiB;
  auto* const pages       = static_cast<char*>(map_pages(bytes));
  REQUIRE(pages != nullptr);
  first_touch(pages, bytes, {4, Cores::allowed()});
  Driver::lock_pages(pages, huge_page_bytes);  // what the runtime makes once
  CHECK(Driver::unlock_pages(pages, huge_page_bytes));
  // A hole at the end: the system finds it when all else is pinned.
  unmap_pages(pages + bytes - huge_page_bytes, huge_page_bytes);
  std::ptrdiff_t const before  = pinned_pages();
  std::size_t const available  = available_memory();
  constexpr std::size_t rounds = 40;  // 10 GiB
  for (std::size_t i = 0; i < rounds; ++i)
    CHECK_THROWS_AS(Driver::lock_pages(pages, bytes), DeviceError);
  auto const one_round = static_cast<std::ptrdiff_t>(bytes / page_bytes());
  CHECK(pinned_pages() - before < one_round / 2);  // others lock some, too
  unmap_pages(pages, bytes - huge_page_bytes);
  CHECK(available_memory() + 2048 * MiB > available);
}

TEST_CASE("memory that is locked and given back is the system's again", "[cost]") {
  start_test(1);
  std::size_t const bytes = 256 * MiB;
  give_back(lock_fresh(bytes));
  std::ptrdiff_t const before = pinned_pages();
  std::size_t const available = available_memory();
  for (int i = 0; i < 40; ++i) CHECK(give_back(lock_fresh(bytes)));
  CHECK(pinned_pages() - before < static_cast<std::ptrdiff_t>(bytes / page_bytes()));
  CHECK(available_memory() + 2048 * MiB > available);
}

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
