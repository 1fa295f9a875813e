// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "SumToHostPair.hpp"
#include "VectorPair.hpp"

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/WriteCombinedSpace.hpp>

namespace KokkosHostSpaces::Perf {
namespace {

std::string name(Launch launch) {
  char const* const names[] = {"range_policy", "khs_parallel", "element_wise"};
  return names[int(launch)];
}

/// The word in the name of a benchmark.
std::string baseline(Rivals rivals) {
  char const* const names[] = {"", "/baseline:repeatable", "/baseline:CUB"};
  return names[int(rivals)];
}

/// Sums on the device are also compared with some of the variants alone.
std::vector<Rivals> rivals(VectorOperation op, Launch launch, bool on_device, Mode mode) {
  bool const best_launch = launch == Launch::element_wise;
  bool const is_asked    = mode == Mode::full ? is_sum(op) : op == VectorOperation::dot;
  if (mode == Mode::quick || !is_asked || !best_launch || !on_device || !runs_on_device)
    return {Rivals::all};
  return {Rivals::all, Rivals::repeatable, Rivals::cub};
}

std::vector<VectorOperation> operations(Mode mode) {
  if (mode == Mode::quick)
    return {VectorOperation::copy, VectorOperation::triad, VectorOperation::dot};
  std::vector<VectorOperation> all;
  for (int op = 0; op <= int(VectorOperation::norm); ++op) all.push_back(VectorOperation(op));
  return all;
}

/// Parameters of a space.
struct Sweep {
  std::string space;
  PlainKind baseline;
  std::vector<Launch> launches;
  int largest;            ///< log2 of the number of elements
  std::size_t available;  ///< bytes of all arrays of both sides
  std::size_t most_runs, most_bytes;
  double rate;  ///< expected bytes/s

  std::size_t bytes_each() const {
    int exponent = largest;
    while (exponent > 10 && 6 * (sizeof(double) << exponent) > available) --exponent;
    return sizeof(double) << exponent;
  }
};

template <class Space, class T>
Case make_case(Sweep const& sweep, std::string const& type, VectorCase const& description,
               Effort const& effort, std::shared_ptr<LatestMemory> const& latest) {
  double const bytes =
      double(arrays_moved(description.op)) * double(description.elements) * sizeof(T);
  double const seconds = std::max(bytes, double(sweep.most_bytes)) / sweep.rate;
  return {std::string("vector/") + name(description.op) + "/" + sweep.space + "/" + type + "/" +
              name(description.launch) + baseline(description.rivals) +
              "/n:" + std::to_string(description.elements),
          bytes, effort.repetitions(seconds), [=] {
            return std::make_unique<VectorPair<Space, T>>(
                description, latest->of<VectorMemory<Space>>(sweep.bytes_each(), sweep.baseline));
          }};
}

template <class Space>
void add_cases(Sweep const& sweep, Effort const& effort,
               std::shared_ptr<LatestMemory> const& latest, Cases& cases) {
  bool const on_device = std::is_same_v<Space, Kokkos::DefaultExecutionSpace::memory_space>;
  int const step       = effort.mode == Mode::quick ? 10 : on_device ? 2 : 4;
  std::vector<int> exponents;
  for (int exponent = 10; (sizeof(double) << exponent) <= sweep.bytes_each(); exponent += step)
    exponents.push_back(exponent);
  if ((sizeof(double) << exponents.back()) < sweep.bytes_each())
    exponents.push_back(std::countr_zero(sweep.bytes_each() / sizeof(double)));
  for (VectorOperation op : operations(effort.mode))
    for (Launch launch : sweep.launches)
      for (Rivals const of : rivals(op, launch, on_device, effort.mode))
        for (int exponent : exponents) {
          VectorCase const description{
              op, std::size_t(1) << exponent, launch, of, sweep.most_runs, sweep.most_bytes};
          cases.push_back(make_case<Space, double>(sweep, "double", description, effort, latest));
          if (effort.mode == Mode::full || (effort.mode == Mode::standard && of == Rivals::all))
            cases.push_back(make_case<Space, float>(sweep, "float", description, effort, latest));
        }
}

}  // namespace

Cases vector_cases(Effort const& effort) {
  auto const latest = latest_memory();
  Cases cases;
  auto const largest = [&](int quick, int standard, int full) {
    return effort.mode == Mode::quick ? quick : effort.mode == Mode::standard ? standard : full;
  };
  if (effort.mode != Mode::quick)
    for (bool const stock : {true, false})
      for (std::size_t n : {10000, 1000000, 10000000})
        cases.push_back({std::string("vector/sum_to_host/") +
                             (runs_on_device ? "CudaSpace" : "HostSpace") +
                             "/double/khs_parallel/baseline:" + (stock ? "stock" : "plain") +
                             "/n:" + std::to_string(n),
                         0, effort.repetitions(1e-3),
                         [=] { return std::make_unique<SumToHostPair>(n, stock); }});
  Sweep host{"MappedSpace",
             runs_on_device ? PlainKind::pinned : PlainKind::pageable,
             {Launch::element_wise},
             largest(20, 24, runs_on_device ? 28 : 26),
             effort.host_bytes / 2,
             32,
             4 * MiB,
             runs_on_device ? 4e10 : 1e10};
#ifdef KOKKOS_ENABLE_CUDA
  std::vector<Launch> const all = {Launch::range_policy, Launch::khs_parallel,
                                   Launch::element_wise};
  add_cases<Kokkos::CudaSpace>({"CudaSpace", PlainKind::device, all, largest(20, 28, 28),
                                effort.device_bytes / 2, 32, 256 * MiB, 3e12},
                               effort, latest, cases);
  add_cases<MappedSpace>(host, effort, latest, cases);
  host.space = "CudaHostPinnedSpace";
  add_cases<Kokkos::CudaHostPinnedSpace>(host, effort, latest, cases);
  host.space    = "WriteCombinedSpace";
  host.baseline = PlainKind::write_combined;
  add_cases<WriteCombinedSpace>(host, effort, latest, cases);
#else
  add_cases<MappedSpace>(host, effort, latest, cases);
  host.space = "HostSpace";
  add_cases<Kokkos::HostSpace>(host, effort, latest, cases);
#endif
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
