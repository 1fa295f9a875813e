// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Measurements of any way. Numbers of operations are fixed, so that all ranks do the same.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_MEASURES_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_MEASURES_HPP

#include "Cold.hpp"
#include "../BestVariant.hpp"
#include "../Effort.hpp"
#include "AllocPair.hpp"
#include "BusyDevice.hpp"

#include <barrier>
#include <cmath>
#include <future>
#include <limits>
#include <optional>
#include <random>

namespace KokkosHostSpaces::Perf {

/// Times pairs of an allocation and its free, `count` of them, or while go_on().
template <class Way, class NextSize, class GoOn>
Latencies time_pairs(Way const& way, NextSize next_size, std::size_t count, GoOn go_on,
                     bool damage) {
  Latencies latencies;
  latencies.seconds.reserve(count);
  for (std::size_t i = 0; i < count && go_on(); ++i) {
    std::size_t const bytes = next_size();
    auto start              = Clock::now();
    std::optional block(way(bytes));
    double const allocating = seconds_since(start);
    char* const data        = begin_of(*block);
    latencies.verified &= keeps_its_ends(data, bytes, char(i), damage);
    if (i == 0) latencies.verified &= is_page_locked_throughout(data, bytes);
    start = Clock::now();
    block.reset();
    latencies.seconds.push_back(allocating + seconds_since(start));
  }
  return latencies;
}

inline bool always() { return true; }

/// Measures the first allocation of a process, or one from an emptied pool. Finds the best variant of a
/// baseline first.
template <class Way>
Measure cold(WayInfo const& info, Way const& way, std::size_t bytes, bool in_fresh_process) {
  ColdCase what{info.name, "", bytes};
  if (info.baseline != nullptr)
    what.variant = choose_best_variant(
        *info.baseline, 3, [] {},
        [&] {
          auto const start = Clock::now();
          auto const block = way(bytes);
          return seconds_since(start);
        });
  return {[what, in_fresh_process](bool damage) {
            ColdSample const sample = in_fresh_process ? sample_in_fresh_process(what, damage)
                                                       : sample_from_empty_pool(what, damage);
            return Latencies{{sample.seconds}, sample.verified};
          },
          what.variant};
}

/// Pairs in a sample: fewer for a way that page-locks memory each time.
inline std::size_t warm_pairs(bool caches, std::size_t bytes) {
  return caches ? 1000 : std::clamp<std::size_t>(40 * MiB / bytes, 1, 200);
}

/// Measures allocating and freeing in turn.
template <class Way>
Measure warm(WayInfo const& info, Way way, std::size_t bytes) {
  return {[=](bool damage) {
    if (info.caches) (void)way(bytes);  // warms it up
    return time_pairs(
        way, [bytes] { return bytes; }, warm_pairs(info.caches, bytes), always, damage);
  }};
}

/// The same for Views that are filled with zeros, in memory that was used before.
template <class Way>
Measure filled(Way way, std::size_t bytes) {
  return {[=](bool damage) {
    (void)way(bytes);
    std::size_t const count = std::clamp<std::size_t>(GiB / bytes, 1, 20);
    return time_pairs(
        way, [bytes] { return bytes; }, count, always, damage);
  }};
}

/// Random sizes whose logarithms are uniformly distributed.
class RandomSizes {
 public:
  explicit RandomSizes(unsigned seed) : m_generator(seed) {}

  std::size_t operator()() { return static_cast<std::size_t>(std::exp2(m_exponent(m_generator))); }

 private:
  std::minstd_rand m_generator;
  std::uniform_real_distribution<double> m_exponent{6, 20};  // 64 bytes to 1 MiB
};

/// Measures allocating and freeing by several threads, with random sizes.
template <class Way>
Measure by_threads(WayInfo const& info, Way way, int threads) {
  return {[=, device = current_device(), sample = 0](bool damage) mutable {
    std::barrier all_are_here(threads);
    std::vector<std::future<Latencies>> parts;
    for (int thread = 0; thread < threads; ++thread) {
      RandomSizes sizes(unsigned(1 + sample * threads + thread));
      parts.push_back(std::async(std::launch::async, [&, sizes]() mutable {
        all_are_here.arrive_and_wait();
        use_device(device);  // a new thread begins with device 0
        for (int i = 0; info.caches && i < 500; ++i) (void)way(sizes());
        return time_pairs(
            way, [&sizes] { return sizes(); }, info.caches ? 4000 : 200, always, damage);
      }));
    }
    ++sample;
    Latencies all;
    for (auto& part : parts) {
      Latencies const measured = part.get();
      all.seconds.insert(all.seconds.end(), measured.seconds.begin(), measured.seconds.end());
      all.verified &= measured.verified;
    }
    return all;
  }};
}

// Memory freed while kernels run is not reused before they end, so the measurements below make a block for
// each allocation beforehand.

template <class Way>
auto make_blocks(Way const& way, std::size_t bytes, std::size_t count) {
  std::vector<decltype(way(bytes))> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(way(bytes));
  return blocks;
}

/// Measures allocating and freeing beside a kernel on each of 8 streams.
template <class Way>
Measure busy(Way way, std::size_t bytes, std::size_t count) {
  return {[=](bool damage) {
    make_blocks(way, bytes, count);
    // Let the pool find on an idle device that all retired blocks are ready.
    Kokkos::fence();
    pool::trim(std::numeric_limits<std::size_t>::max());
    BusyDevice const device(8, 1);
    return time_pairs(
        way, [bytes] { return bytes; }, count, [&device] { return device.is_busy(); }, damage);
  }};
}

/// Measures freeing alone, beside a kernel that began after the allocation.
template <class Way>
Measure free_busy(Way way, std::size_t bytes, std::size_t count) {
  return {[=](bool damage) {
    Latencies latencies;
    auto blocks = make_blocks(way, bytes, count);
    for (auto const& block : blocks)
      latencies.verified &= keeps_its_ends(begin_of(block), bytes, 'f', damage) &&
                            is_page_locked_throughout(begin_of(block), bytes);
    BusyDevice const device(1, 0.05);
    while (!blocks.empty() && device.is_busy()) {
      auto const start = Clock::now();
      blocks.pop_back();
      latencies.seconds.push_back(seconds_since(start));
    }
    return latencies;
  }};
}

}  // namespace KokkosHostSpaces::Perf

#endif
