// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The part of the group transport that reads a fraction of the data: in place, beside a copy of all of it to the
// device.

#include "../../plain/Stopwatch.hpp"
#include "../Groups.hpp"
#include "../Instance.hpp"
#include "../LatestMemory.hpp"
#include "../Pair.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cmath>

namespace KokkosHostSpaces::Perf {
namespace {

using TeamOfRuns  = Kokkos::TeamPolicy<Execution>;
using AllElements = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::uint64_t>>;
using OfDevice    = Kokkos::View<double*, Execution::memory_space>;
using OfHost      = Kokkos::View<double*, MappedSpace>;

// Doubles of a run: 512 bytes.
constexpr int run_elements = 64, runs_of_team = runs_on_device ? 8 : 1;

/// Some runs of an array, evenly spread.
struct TouchedRuns {
  std::uint64_t all, touched, shift = 0;
  KOKKOS_FUNCTION std::uint64_t first_element(std::uint64_t run) const {
    return run_elements * (run * all / touched + shift);
  }
};

/// Adds the sum of run j to sums(j), a run by each thread of a team, with its vector lanes.
template <class Array>
struct AddRuns {
  Array array;
  OfDevice sums;
  TouchedRuns runs;

  KOKKOS_FUNCTION void operator()(TeamOfRuns::member_type const& team) const {
    std::uint64_t const run = std::uint64_t(team.league_rank()) * runs_of_team + team.team_rank();
    if (run >= runs.touched) return;
    std::uint64_t const first = runs.first_element(run);
    double sum                = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, run_elements),
        [&](int i, double& part) { part += array(first + i); }, sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { sums(run) += sum; });
  }
};

// Contents are small whole numbers, so that sums are exact.
KOKKOS_INLINE_FUNCTION double content(std::uint64_t element) { return double(element % 251); }

struct FillRuns {
  OfHost array;
  KOKKOS_FUNCTION void operator()(std::uint64_t e) const { array(e) = content(e); }
};

/// Counts sums that differ from those of their runs, added `times`.
struct CountWrongSums {
  OfDevice sums;
  TouchedRuns runs;
  double times;
  KOKKOS_FUNCTION void operator()(std::uint64_t run, std::int64_t& wrong) const {
    double expected = 0;
    for (int i = 0; i < run_elements; ++i) expected += content(runs.first_element(run) + i);
    wrong += !(sums(run) == times * expected);
  }
};

struct TouchMemory {
  explicit TouchMemory(std::size_t elements)
      : host(Kokkos::view_alloc("host", Kokkos::WithoutInitializing), elements),
        device("device", elements) {
    Kokkos::parallel_for("fill", AllElements(0, elements), FillRuns{host});
    Kokkos::fence();
  }
  OfHost host;
  OfDevice device;
};

/// Times kernels that read a fraction of an array, several `passes` in a row. A sample in place repeats a small
/// fraction on other parts, since events resolve 0.5 µs.
class TouchPair final : public Pair {
 public:
  TouchPair(double fraction, int passes, std::shared_ptr<TouchMemory> memory)
      : m_passes(passes), m_memory(std::move(memory)) {
    m_label                   = "all copied to the device";
    std::uint64_t const all   = m_memory->host.size() / run_elements;
    double const touched      = std::round(fraction * double(all));
    m_runs                    = {all, std::max<std::uint64_t>(1, std::uint64_t(touched))};
    std::uint64_t const parts = m_runs.all / m_runs.touched >= 16 ? 16 : 1;
    m_in_place.sums.resize(parts);
    for (Side* side : {&m_in_place, &m_staged})
      for (OfDevice& sums : side->sums) sums = OfDevice("sums", m_runs.touched);
    m_stopwatch.time_with_host_clock([this] { read_in_place(), read_staged(); });
  }

  double time_ours() override {
    return m_stopwatch.time_queued_cold([this] { read_in_place(); }) /
           double(m_in_place.sums.size());
  }
  double time_baseline() override {
    return m_stopwatch.time_queued_cold([this] { read_staged(); });
  }

  std::string find_error() override { return describe_wrong(wrong(m_in_place), wrong(m_staged)); }
  void damage() override { Kokkos::deep_copy(m_in_place.sums[0], -1.); }

 private:
  struct Side {
    std::vector<OfDevice> sums = std::vector<OfDevice>(1);  ///< of each part
    std::int64_t samples       = 0;
  };

  void read_in_place() { read(m_memory->host, m_in_place); }
  void read_staged() {
    Kokkos::deep_copy(m_instance, m_memory->device, m_memory->host);
    read(m_memory->device, m_staged);
  }

  template <class Array>
  void read(Array const& array, Side& side) const {
    ++side.samples;
    int const teams = int((m_runs.touched + runs_of_team - 1) / runs_of_team);
    TeamOfRuns const policy(m_instance, teams, runs_of_team, runs_on_device ? 32 : 1);
    for (std::size_t part = 0; part < side.sums.size(); ++part)
      for (int pass = 0; pass < m_passes; ++pass)
        Kokkos::parallel_for("read", policy,
                             AddRuns<Array>{array, side.sums[part], runs_of(side, part)});
  }

  TouchedRuns runs_of(Side const& side, std::size_t part) const {
    return {m_runs.all, m_runs.touched, part * (m_runs.all / m_runs.touched / side.sums.size())};
  }

  std::int64_t wrong(Side const& side) const {
    std::int64_t all = 0;
    for (std::size_t part = 0; part < side.sums.size(); ++part) {
      std::int64_t wrong = 0;
      Kokkos::parallel_reduce(
          "count_wrong_sums", AllElements(m_instance, 0, m_runs.touched),
          CountWrongSums{side.sums[part], runs_of(side, part), double(side.samples * m_passes)},
          wrong);
      all += wrong;
    }
    return all;
  }

  int m_passes;
  std::shared_ptr<TouchMemory> m_memory;
  TouchedRuns m_runs{};
  Stopwatch m_stopwatch;
  Execution m_instance = make_instance(m_stopwatch.stream());
  Side m_in_place, m_staged;
};

}  // namespace

Cases touch_cases(Effort const& effort) {
  Cases cases;
  using Texts       = std::vector<std::string>;
  bool const quick  = effort.mode == Mode::quick;
  std::size_t bytes = (quick ? 16 : 256) * MiB;
  while (4 * bytes > effort.host_bytes || (runs_on_device && 2 * bytes > effort.device_bytes))
    bytes /= 2;
  for (std::string const& text :
       quick ? Texts{"0.01", "1"} : Texts{"0.001", "0.01", "0.1", "0.5", "1"})
    for (int passes : quick ? std::vector{1, 4} : std::vector{1, 2, 4, 8}) {
      double const fraction = std::stod(text);
      cases.push_back({"transport/read/MappedSpace/baseline:staged/fraction:" + text +
                           "/passes:" + std::to_string(passes),
                       fraction * double(bytes) * passes,
                       effort.repetitions(double(bytes) / (runs_on_device ? 5e10 : 5e9)),
                       [=, latest = latest_memory()] {
                         return std::make_unique<TouchPair>(
                             fraction, passes, latest->of<TouchMemory>(bytes / sizeof(double)));
                       }});
    }
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
