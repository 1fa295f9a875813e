// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Latencies while kernels run. What is freed meanwhile is not used again before the kernels end, so
// blocks are made beforehand: one for each allocation that is measured.

#include "../Machine.hpp"
#include "../Names.hpp"
#include "../Progress.hpp"
#include "../twins/BusyDevice.hpp"
#include "Series.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

constexpr std::size_t largest_busy  = 256 * MiB;
constexpr std::size_t most_prepared = 2048 * MiB;

// Leaves out, with a note, what the machine has no memory for: three ways keep the blocks.
std::vector<std::size_t> possible(std::vector<std::size_t> sizes) {
  std::erase_if(sizes, [](std::size_t bytes) { return bytes > largest_busy; });
  if (available_host_memory() > 3 * most_prepared + most_prepared / 2) return sizes;
  std::cerr << "Left out allocations and frees beside running kernels: only "
            << available_host_memory() / MiB << " MiB of memory are available\n";
  return {};
}

template <class Way>
auto make_blocks(Way const& way, std::size_t bytes, std::size_t count) {
  std::vector<decltype(way(bytes))> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(way(bytes));
  return blocks;
}

// On an idle device all that is retired is ready, if only the pool asks.
void make_retired_memory_ready() {
  Kokkos::fence();
  pool::trim(std::numeric_limits<std::size_t>::max());
}

}  // namespace

std::vector<Latency> run_busy(Effort const& effort) {
  constexpr int streams           = 8;
  constexpr double kernel_seconds = 1;
  std::vector<Latency> results;
  std::vector<std::size_t> const sizes = possible(effort.sizes);
  Progress progress(int(sizes.size()));
  for (std::size_t bytes : sizes) {
    progress.step("beside kernels on 8 streams, " + size_name(bytes));
    std::size_t const count = std::min(effort.most_operations / 10, most_prepared / bytes);
    AllSeries all;
    for (int round = 0; round < rounds; ++round) {
      for_each_way([&](WayInfo const& info, auto const& way) {
        if (!info.caches) return;  // it waits for the kernels: run_free tells
        make_blocks(way, bytes, count);
        make_retired_memory_ready();
        Series& series = all.of(info.name);
        BusyDevice const device(streams, kernel_seconds);
        std::size_t const end = series.latencies.size() + count;
        time_pairs(
            way, [bytes] { return bytes; },
            [&] { return series.latencies.size() < end && device.is_busy(); }, series);
      });
    }
    all.report(Situation::busy, bytes, 1, results);
    forget_kept_memory();
  }
  return results;
}

std::vector<Latency> run_free(Effort const& effort) {
  constexpr double kernel_seconds = 0.05;
  std::vector<Latency> results;
  std::vector<std::size_t> const sizes = possible(effort.sizes);
  Progress progress(int(sizes.size()));
  for (std::size_t bytes : sizes) {
    progress.step("free beside a kernel, " + size_name(bytes));
    AllSeries all;
    for (int round = 0; round < rounds; ++round) {
      for_each_way([&](WayInfo const& info, auto const& way) {
        Series& series = all.of(info.name);
        // One that waits ends the kernel, so that there is nothing to be seen of a second one.
        auto blocks = make_blocks(
            way, bytes, info.caches ? std::min<std::size_t>(32, most_prepared / bytes) : 1);
        for (auto const& block : blocks)
          series.verified &= keeps_its_ends(begin_of(block), bytes, 'f') &&
                             is_page_locked_throughout(begin_of(block), bytes);
        BusyDevice const device(1, kernel_seconds);
        while (!blocks.empty() && device.is_busy()) {
          auto const start = Clock::now();
          blocks.pop_back();
          series.latencies.push_back(seconds_since(start));
        }
      });
    }
    all.report(Situation::free, bytes, 1, results);
    forget_kept_memory();
  }
  return results;
}

}  // namespace KokkosHostSpaces::Perf
