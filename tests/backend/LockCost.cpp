// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What locking memory costs on a real device: no more than by hand, and nothing for ever.
// backend_tests_cuda "[cost]" prints the figures; the first is a comparison, not a test.

#include "os/AvailableMemory.hpp"
#include "BackendTest.hpp"

#include <cstdio>

#include <cuda_runtime_api.h>

namespace {

// Pages that some driver holds at the moment.
std::ptrdiff_t pinned_pages() {
  return static_cast<std::ptrdiff_t>(figure_in("/proc/vmstat", "nr_foll_pin_acquired")) -
         static_cast<std::ptrdiff_t>(figure_in("/proc/vmstat", "nr_foll_pin_released"));
}

template <class Lock, class Unlock>
double median_seconds(Lock lock, Unlock unlock) {
  std::vector<double> seconds;
  for (int i = 0; i < 9; ++i) {
    auto const start  = std::chrono::steady_clock::now();
    auto const locked = lock();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    unlock(locked);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
  return seconds[4];
}

// As a careful user would write it: huge pages, threads that touch a part each, one registration.
void* lock_by_hand(std::size_t bytes, std::size_t threads) {
  void* const mapped       = mmap(nullptr, bytes + huge_page_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto const address       = reinterpret_cast<std::uintptr_t>(mapped);
  std::size_t const before = (huge_page_bytes - address % huge_page_bytes) % huge_page_bytes;
  auto* const begin        = static_cast<char*>(mapped) + before;
  if (before > 0) munmap(mapped, before);
  if (before < huge_page_bytes) munmap(begin + bytes, huge_page_bytes - before);
  madvise(begin, bytes, MADV_HUGEPAGE);
  auto const touch = [=](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; i += 4096) *const_cast<char volatile*>(begin + i) = 0;
  };
  std::size_t const units = bytes / huge_page_bytes;
  auto const border       = [=](std::size_t i) { return units * i / threads * huge_page_bytes; };
  std::vector<std::jthread> team;
  for (std::size_t i = 1; i < threads; ++i) team.emplace_back(touch, border(i), border(i + 1));
  touch(0, border(1));
  team.clear();
  cudaHostRegister(begin, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  return begin;
}

void unlock_by_hand(void* pointer, std::size_t bytes) {
  cudaHostUnregister(pointer);
  munmap(pointer, bytes);
}

}  // namespace

TEST_CASE("cold page-locking beside the same by hand with its best number of threads",
          "[.][cost]") {
  start_test(1);
  cudaFree(nullptr);
  give_back(lock_fresh(4 * MiB));
  for (std::size_t const MiBs : {4, 16, 64, 256, 1024, 4096, 16384}) {
    std::size_t const bytes = MiBs * MiB;
    if (available_memory() < 2 * bytes) continue;
    double best              = 1e9;
    std::size_t best_threads = 0;
    for (std::size_t const threads : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      if (threads > bytes / huge_page_bytes) continue;
      double const seconds = median_seconds([&] { return lock_by_hand(bytes, threads); },
                                            [&](void* p) { unlock_by_hand(p, bytes); });
      if (seconds < best) best_threads = threads;
      best = std::min(best, seconds);
    }
    std::string of_ours;
    for (int const threads : {0, 4, 8, 16, 32}) {
      Config config;
      config.touch_threads = threads;
      double const seconds = median_seconds(
          [&] { return lock_fresh_pages(bytes, MemoryKind::page_locked, -1, config); },
          [](Region const& region) { give_back(region); });
      std::array<char, 80> text{};
      std::snprintf(text.data(), text.size(), "  %s %.2f ms (%.2f)",
                    threads == 0 ? "default" : std::to_string(threads).c_str(), seconds * 1e3,
                    best / seconds);
      of_ours += text.data();
    }
    std::printf("%6zu MiB: by hand %.2f ms with %zu threads; ours by threads:%s\n", MiBs,
                best * 1e3, best_threads, of_ours.c_str());
  }
}

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
