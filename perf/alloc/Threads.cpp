// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Names.hpp"
#include "../Progress.hpp"
#include "Series.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <future>
#include <random>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr std::size_t largest_random = std::size_t(1) << 20;

// As many small sizes as large ones: their logarithms are evenly distributed.
class RandomSizes {
 public:
  RandomSizes(unsigned seed, std::size_t largest)
      : m_generator(seed), m_exponent(std::log2(64.0), std::log2(double(largest))) {}

  std::size_t operator()() { return static_cast<std::size_t>(std::exp2(m_exponent(m_generator))); }

 private:
  std::minstd_rand m_generator;
  std::uniform_real_distribution<double> m_exponent;
};

// What one thread does in one round.
template <class Way>
Series time_in_thread(WayInfo const& info, Way const& way, Effort const& effort, RandomSizes sizes,
                      std::barrier<>& all_are_here) {
  Series series{info.name, {}, 0, true};
  all_are_here.arrive_and_wait();
  if (info.caches) {
    for (int i = 0; i < 500; ++i) (void)way(sizes());
  }
  // A quarter of the effort: as in the first of the rounds.
  time_pairs(
      way, [&sizes] { return sizes(); }, Share(effort, 0, series), series);
  return series;
}

}  // namespace

std::vector<Latency> run_threads(Effort const& effort) {
  std::size_t const largest = std::min(largest_random, effort.sizes.back());
  std::vector<Latency> results;
  Progress progress(3);
  for (int const threads : {1, 4, 16}) {
    progress.step("threads, " + std::to_string(threads));
    AllSeries all;
    for (int round = 0; round < rounds; ++round) {
      for_each_way([&](WayInfo const& info, auto const& way) {
        std::barrier all_are_here(threads);
        std::vector<std::future<Series>> parts;
        for (int thread = 0; thread < threads; ++thread) {
          parts.push_back(std::async(std::launch::async, [&, thread] {
            RandomSizes const sizes(unsigned(1 + round * threads + thread), largest);
            return time_in_thread(info, way, effort, sizes, all_are_here);
          }));
        }
        Series& series = all.of(info.name);
        for (auto& part : parts) {
          Series const measured = part.get();
          series.latencies.insert(series.latencies.end(), measured.latencies.begin(),
                                  measured.latencies.end());
          series.verified &= measured.verified;
        }
      });
    }
    all.report(Situation::threads, largest, threads, results);
  }
  forget_kept_memory();
  return results;
}

}  // namespace KokkosHostSpaces::Perf
