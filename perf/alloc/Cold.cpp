// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Cold.hpp"

#include "../ChildProcess.hpp"
#include "../Machine.hpp"
#include "../Names.hpp"
#include "../Progress.hpp"
#include "Ways.hpp"

#include <iostream>
#include <optional>
#include <sstream>

namespace KokkosHostSpaces::Perf {
namespace {

template <class Way>
ColdSample take_sample(Way const& way, std::size_t bytes, bool damage = false) {
  auto begin = Clock::now();
  std::optional block(way(bytes));
  double const allocate = seconds_since(begin);
  char* const data      = begin_of(*block);
  bool const verified =
      is_page_locked_throughout(data, bytes) && keeps_its_ends(data, bytes, 'c', damage);
  begin = Clock::now();
  block.reset();
  return {allocate, seconds_since(begin), verified};
}

struct Samples {
  std::string way;
  std::vector<double> allocate, free, speedup;
  bool verified = true;
};

Samples& samples_of(std::string const& way, std::vector<Samples>& all) {
  for (Samples& samples : all)
    if (samples.way == way) return samples;
  return all.emplace_back(Samples{way, {}, {}, {}, true});
}

// One repetition: each line has the figures of one way, and its name.
void read_samples(std::string const& text, std::vector<Samples>& all) {
  std::istringstream lines(text);
  ColdSample sample;
  std::string way;
  while (lines >> sample.allocate_seconds >> sample.free_seconds >> sample.verified &&
         std::getline(lines >> std::ws, way)) {
    Samples& samples = samples_of(way, all);
    samples.allocate.push_back(sample.allocate_seconds);
    samples.free.push_back(sample.free_seconds);
    samples.speedup.push_back(sample.allocate_seconds / all.front().allocate.back());
    samples.verified &= sample.verified;
  }
  if (!lines.eof() || all.empty())
    throw std::runtime_error("a process that measures allocations wrote something else: " + text);
}

std::vector<Allocation> measure(std::size_t bytes, int repetitions,
                                std::vector<std::string> arguments, Progress& progress) {
  arguments.insert(arguments.end(),
                   {"--allocation-sample", std::to_string(bytes), "--kokkos-disable-warnings"});
  std::vector<Samples> all;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    progress.step("allocation, " + size_name(bytes));
    read_samples(run_again(arguments), all);
  }
  std::vector<Allocation> results;
  for (Samples const& samples : all)
    results.push_back({samples.way, bytes, summarize(samples.allocate), summarize(samples.free),
                       summarize(samples.speedup), samples.verified});
  return results;
}

}  // namespace

void sample_allocations(std::size_t bytes, std::string const& only, bool plant_error,
                        std::ostream& out) {
  // A small allocation first: what a runtime or library does once is no part of the figure.
  for_each_way([&](WayInfo const& info, auto const& way) {
    if (only.empty() || info.name == only) take_sample(way, 4096);
  });
  for_each_way([&](WayInfo const& info, auto const& way) {
    if (!only.empty() && info.name != only) return;
    forget_kept_memory();
    ColdSample const sample = take_sample(way, bytes, plant_error);
    out << sample.allocate_seconds << ' ' << sample.free_seconds << ' ' << sample.verified << ' '
        << info.name << '\n';
  });
}

ColdSample sample_in_fresh_process(std::string const& way, std::size_t bytes, bool plant_error) {
  // Two processes of one device; under MPI it is not the one that Kokkos would choose there.
  std::vector<std::string> arguments = {"--allocation-sample", std::to_string(bytes),
                                        "--allocation-way", way, "--kokkos-disable-warnings"};
  if (int const device = Kokkos::device_id(); device >= 0)
    arguments.push_back("--kokkos-device-id=" + std::to_string(device));
  if (plant_error) arguments.push_back("--plant-error");
  std::vector<Samples> all;
  read_samples(run_again(arguments), all);
  Samples const& samples = all.front();
  return {samples.allocate.front(), samples.free.front(), samples.verified};
}

std::vector<Allocation> run_allocations(std::vector<std::size_t> const& sizes, int repetitions,
                                        std::vector<std::string> const& arguments) {
  // Memory by the ten GiB takes long, and there its time is steady.
  constexpr std::size_t long_enough = std::size_t(8) << 30;
  std::vector<Allocation> results;
  Progress progress(int(sizes.size()) * repetitions);
  for (std::size_t bytes : sizes) {
    if (available_host_memory() < bytes + bytes / 4) {
      std::cerr << "Left out allocations of " << size_name(bytes) << ": only "
                << available_host_memory() / (1 << 20) << " MiB of memory are available\n";
      continue;
    }
    auto const measured =
        measure(bytes, bytes < long_enough ? repetitions : 1, arguments, progress);
    results.insert(results.end(), measured.begin(), measured.end());
  }
  return results;
}

}  // namespace KokkosHostSpaces::Perf
