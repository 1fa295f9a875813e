// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Goals.hpp"

#include "../Names.hpp"
#include "Ways.hpp"

#include <limits>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

// The figures of one way that count for a goal.
struct Selection {
  Situation situation;
  char const* way;
  std::size_t smallest = 0, largest = any_size;
  int threads = 1;
  bool p99    = false;  ///< else p50
};

Goal latency_goal(std::string const& what, double microseconds, Selection const& selection,
                  std::vector<Latency> const& latencies) {
  Goal goal{what, "us", false, microseconds, {}, {}};
  for (Latency const& latency : latencies) {
    bool const counts = latency.situation == selection.situation && latency.way == selection.way &&
                        latency.bytes >= selection.smallest && latency.bytes <= selection.largest &&
                        latency.threads == selection.threads;
    double const value = (selection.p99 ? latency.seconds.p99 : latency.seconds.p50) * 1e6;
    if (!counts || value <= goal.measured.value_or(-1)) continue;
    goal.measured = value;
    goal.where    = size_name(latency.bytes);
  }
  return goal;
}

Goal cold_goal(std::vector<Allocation> const& cold) {
  std::string const& twin = plain_memories().front().name;
  Goal goal{"cold 4 GiB, times as fast as " + twin, "x", true, 10, {}, {}};
  for (Allocation const& allocation : cold) {
    if (allocation.bytes != 4 * GiB || allocation.way != twin) continue;
    goal.measured = allocation.speedup.median;
    goal.where    = size_name(allocation.bytes);
  }
  return goal;
}

}  // namespace

std::vector<Goal> check_goals(std::vector<Allocation> const& cold,
                              std::vector<Latency> const& latencies) {
  auto const goal = [&](std::string const& what, double microseconds, Selection const& selection) {
    return latency_goal(what, microseconds, selection, latencies);
  };
  return {
      cold_goal(cold),
      goal("free while a kernel runs, p50", 2, {Situation::free, way_of_pool}),
      goal("warm pair up to 256 KiB, p50", 0.5, {Situation::warm, way_of_pool, 0, 256 * KiB}),
      goal("warm pair of any size, p50", 0.5, {Situation::warm, way_of_pool}),
      goal("pair beside 8 streams, up to 256 KiB, p50", 5,
           {Situation::busy, way_of_pool, 0, 256 * KiB}),
      goal("pair beside 8 streams, any size, p50", 5, {Situation::busy, way_of_pool}),
      goal("warm pair by 16 threads, random sizes, p99", 10,
           {Situation::threads, way_of_pool, 0, any_size, 16, true}),
      goal("warm View of 256 MiB, p50", 2, {Situation::warm, way_of_view, 256 * MiB, 256 * MiB}),
  };
}

}  // namespace KokkosHostSpaces::Perf
