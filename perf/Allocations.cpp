// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Allocations.hpp"

#include "ChildProcess.hpp"
#include "Machine.hpp"
#include "Names.hpp"
#include "Progress.hpp"
#include "twins/Platform.hpp"

#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/Pool.hpp>

#include <Kokkos_Core.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <sstream>

namespace KokkosHostSpaces::Perf {
namespace {

struct Sample {
  double allocate_seconds, free_seconds;
  bool page_locked;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool is_page_locked_throughout(char const* pointer, std::size_t bytes) {
  return is_page_locked(pointer) && is_page_locked(pointer + bytes / 2) &&
         is_page_locked(pointer + bytes - 1);
}

template <class Space>
Sample sample_view(std::size_t bytes) {
  auto begin = std::chrono::steady_clock::now();
  std::optional<Kokkos::View<char*, Space>> view(
      std::in_place, Kokkos::view_alloc(Kokkos::WithoutInitializing, "sample"), bytes);
  double const allocate = seconds_since(begin);
  bool const locked     = is_page_locked_throughout(view->data(), bytes);
  begin                 = std::chrono::steady_clock::now();
  view.reset();
  return {allocate, seconds_since(begin), locked};
}

Sample sample_plain(std::size_t bytes) {
  auto begin            = std::chrono::steady_clock::now();
  char* const pointer   = static_cast<char*>(allocate_plain(bytes));
  double const allocate = seconds_since(begin);
  bool const locked     = is_page_locked_throughout(pointer, bytes);
  begin                 = std::chrono::steady_clock::now();
  free_plain(pointer);
  return {allocate, seconds_since(begin), locked};
}

struct Way {
  std::string name;
  Sample (*sample)(std::size_t bytes);
};

std::vector<Way> ways() {
  return {{"PinnedSpace", sample_view<PinnedSpace>},
#ifdef KOKKOS_ENABLE_CUDA
          {"CudaHostPinnedSpace", sample_view<Kokkos::CudaHostPinnedSpace>},
#endif
          {plain_allocation_name, sample_plain}};
}

// The repetitions of one size; way by way.
std::vector<Allocation> measure(std::size_t bytes, int repetitions,
                                std::vector<std::string> arguments, Progress& progress) {
  arguments.insert(arguments.end(),
                   {"--allocation-sample", std::to_string(bytes), "--kokkos-disable-warnings"});
  struct Samples {
    std::vector<double> allocate, free, speedup;
    bool page_locked = true;
  };
  std::vector<Samples> samples(ways().size());
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    progress.step("allocation, " + size_name(bytes));
    std::istringstream lines(run_again(arguments));
    for (Samples& way : samples) {
      Sample sample;
      if (!(lines >> sample.allocate_seconds >> sample.free_seconds >> sample.page_locked))
        throw std::runtime_error("a process that measures allocations did not write its result");
      way.allocate.push_back(sample.allocate_seconds);
      way.free.push_back(sample.free_seconds);
      way.speedup.push_back(sample.allocate_seconds / samples.front().allocate.back());
      way.page_locked &= sample.page_locked;
    }
  }
  std::vector<Allocation> results;
  for (std::size_t i = 0; i < samples.size(); ++i)
    results.push_back({ways()[i].name, bytes, summarize(samples[i].allocate),
                       summarize(samples[i].free), summarize(samples[i].speedup),
                       samples[i].page_locked});
  return results;
}

}  // namespace

void sample_allocations(std::size_t bytes, std::ostream& out) {
  // A small allocation first: what a runtime or library does once is no part of the figure.
  for (Way const& way : ways()) way.sample(4096);
  for (Way const& way : ways()) {
    pool::trim(0);  // the pool holds nothing
    Sample const sample = way.sample(bytes);
    out << sample.allocate_seconds << ' ' << sample.free_seconds << ' ' << sample.page_locked
        << '\n';
  }
}

std::vector<Allocation> run_allocations(Options const& options,
                                        std::vector<std::string> const& arguments) {
  std::vector<Allocation> results;
  Progress progress(int(options.allocations.size()) * options.allocation_repetitions);
  for (std::size_t bytes : options.allocations) {
    if (available_host_memory() < bytes + bytes / 4) {
      std::cerr << "Left out allocations of " << size_name(bytes) << ": only "
                << available_host_memory() / (1 << 20) << " MiB of memory are available\n";
      continue;
    }
    auto const measured = measure(bytes, options.allocation_repetitions, arguments, progress);
    results.insert(results.end(), measured.begin(), measured.end());
  }
  return results;
}

}  // namespace KokkosHostSpaces::Perf
