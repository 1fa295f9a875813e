// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Locking memory on a real device costs nothing for ever. (perf/ compares how long it takes.)

#include "os/AvailableMemory.hpp"
#include "BackendTest.hpp"

#include <cuda_runtime_api.h>

namespace {

// Pages that some driver holds at the moment.
std::ptrdiff_t pinned_pages() {
  return static_cast<std::ptrdiff_t>(figure_in("/proc/vmstat", "nr_foll_pin_acquired")) -
         static_cast<std::ptrdiff_t>(figure_in("/proc/vmstat", "nr_foll_pin_released"));
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
