// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Groups.hpp"
#include "Measures.hpp"

#include <iostream>

namespace KokkosHostSpaces::Perf {
namespace {

using Sizes = std::vector<std::size_t>;

struct Ways {
  std::string ours, baseline;
};

#ifdef KOKKOS_ENABLE_CUDA
Ways const plain = {"PinnedSpace", "cudaHostAlloc"};
Ways const pages = {"PinnedSpace", "mmap_cudaHostRegister"};
Ways const pools = {"PinnedSpace", "driver_host_pool"};
Ways const views = {"View_PinnedSpace", "View_CudaHostPinnedSpace"};
#else
Ways const plain = {"PinnedSpace", "malloc_touch"};
Ways const pages = {"PinnedSpace", "mmap_touch"};
Ways const views = {"View_PinnedSpace", "malloc_touch"};
#endif

// Zeros of fresh pages cost nothing.
Ways const zeros_of_fresh = {"zeroed_View_PinnedSpace", "View_PinnedSpace"};

struct What {
  std::string operation;
  Ways ways;
  std::string number;  ///< as bytes:4096
  int repetitions;
  double bytes = 0;  ///< as in Case
};

template <class MakeMeasure>
Measure measure_of(std::string const& name, MakeMeasure make_measure) {
  Measure measure;
  for_each_way([&](WayInfo const& info, auto const& way) {
    if (info.name == name) measure = make_measure(info, way);
  });
  return measure;
}

/// \param make_measure make_measure(WayInfo, way) returns the Measure of a way
template <class MakeMeasure>
void add(Cases& cases, What const& what, MakeMeasure make_measure) {
  std::string const name = "alloc/" + what.operation + "/" + what.ways.ours +
                           "/baseline:" + what.ways.baseline + "/" + what.number;
  if (!has_way(what.ways.baseline)) {
    std::cerr << "Left out " << name << ": this machine has no " << what.ways.baseline << '\n';
    return;
  }
  cases.push_back({name, what.bytes, what.repetitions, [=] {
                     return std::make_unique<AllocPair>(
                         measure_of(what.ways.ours, make_measure),
                         measure_of(what.ways.baseline, make_measure));
                   }});
}

std::string in_bytes(std::size_t bytes) { return "bytes:" + std::to_string(bytes); }

// Benchmarks before may still hold the other half.
std::size_t most_bytes(Effort const& effort) { return effort.host_bytes / 2; }

void add_cold(Effort const& effort, Cases& cases) {
  Sizes sizes = {64 * MiB};
  if (effort.mode != Mode::quick) sizes.push_back(GiB);
  if (effort.mode == Mode::full) sizes.insert(sizes.end(), {256 * MiB, 4 * GiB, 16 * GiB});
  std::erase_if(sizes, [&](std::size_t bytes) { return bytes + bytes / 4 > most_bytes(effort); });
  for (Ways const& ways : {plain, pages, views, zeros_of_fresh})
    for (std::size_t bytes : sizes)
      add(cases,
          {"cold", ways, in_bytes(bytes), effort.repetitions(double(bytes) / 4e9), double(bytes)},
          [=](WayInfo const&, auto const& way) { return cold(way, bytes); });
}

Sizes warm_sizes(Effort const& effort) {
  Sizes sizes = {64, 4 * KiB, 256 * KiB, 4 * MiB, 256 * MiB};
  if (effort.mode == Mode::quick) sizes = {4 * KiB, 4 * MiB};
  // Both sides may keep a block.
  std::erase_if(sizes, [&](std::size_t bytes) { return 3 * bytes > most_bytes(effort); });
  return sizes;
}

void add_warm(Ways const& ways, Effort const& effort, Cases& cases) {
  for (std::size_t bytes : warm_sizes(effort)) {
    double const seconds = double(warm_pairs(false, bytes) * bytes) / 2e9;
    add(cases, {"warm", ways, in_bytes(bytes), effort.repetitions(seconds)},
        [bytes](WayInfo const& info, auto const& way) { return warm(info, way, bytes); });
  }
}

#ifdef KOKKOS_ENABLE_CUDA
void add_free_busy(Ways const& ways, Effort const& effort, Cases& cases) {
  // A baseline that waits takes 50 ms, 100000 times as long as ours: few repetitions suffice.
  int const repetitions = effort.mode == Mode::quick ? 5 : effort.repetitions(0.05);
  for (std::size_t bytes : effort.mode == Mode::quick ? Sizes{4 * MiB} : warm_sizes(effort)) {
    // Blocks are made beforehand, since memory that is freed beside kernels is not reused before they end.
    std::size_t const count =
        std::clamp<std::size_t>(std::min(2 * GiB, most_bytes(effort) / 3) / bytes, 1, 32);
    add(cases, {"free_busy", ways, in_bytes(bytes), repetitions},
        [bytes, count](WayInfo const& info, auto const& way) {
          // A free that waits outlasts the kernel, so that a second one would measure nothing.
          return free_busy(way, bytes, info.caches ? count : 1);
        });
  }
}
#endif

}  // namespace

Cases alloc_cases(Effort const& effort) {
  Cases cases;
  add_cold(effort, cases);
  add_warm(plain, effort, cases);
#ifdef KOKKOS_ENABLE_CUDA
  add_warm(pools, effort, cases);
#endif
  add_warm(views, effort, cases);
#ifdef KOKKOS_ENABLE_CUDA
  add_free_busy(plain, effort, cases);
  add_free_busy(views, effort, cases);
#endif
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
