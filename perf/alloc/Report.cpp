// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Report.hpp"

#include "../Format.hpp"
#include "../MachineReport.hpp"
#include "../Names.hpp"
#include "../twins/PlainMemory.hpp"

#include <algorithm>
#include <ostream>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr char const* name(Situation situation) {
  switch (situation) {
    case Situation::warm: return "warm";
    case Situation::busy: return "busy";
    case Situation::free: return "free";
    case Situation::threads: break;
  }
  return "threads";
}

constexpr char const* explanation(Situation situation) {
  switch (situation) {
    case Situation::warm:
      return "Warm: allocate and free, in turn, on an idle device. Above 1 GiB, a way that keeps "
             "nothing costs what it costs when cold.";
    case Situation::busy:
      return "Busy: allocate and free, in turn, while a kernel runs on each of 8 streams. The ways "
             "that are missing wait for the kernels when they free.";
    case Situation::free: return "Free: while a kernel runs, which ends after 50 ms.";
    case Situation::threads: break;
  }
  return "Threads: allocate and free, in turn, by several threads; sizes are random up to the one "
         "given.";
}

void write_latencies(std::ostream& out, Situation situation, std::vector<Latency> const& all) {
  auto const is_of = [situation](Latency const& latency) { return latency.situation == situation; };
  if (std::ranges::none_of(all, is_of)) return;
  out << '\n' << explanation(situation) << "\n\n";
  out << format("%-28s %9s %7s %11s %11s %11s %11s %8s  %s\n", "memory", "size", "threads",
                "p50 us", "p90 us", "p99 us", "max us", "count", "PinnedSpace is faster by");
  for (Latency const& r : all) {
    if (!is_of(r)) continue;
    out << format("%-28s %9s %7d %11.3f %11.3f %11.3f %11.3f %8zu  %.2f%s\n", r.way.c_str(),
                  size_name(r.bytes).c_str(), r.threads, r.seconds.p50 * 1e6, r.seconds.p90 * 1e6,
                  r.seconds.p99 * 1e6, r.seconds.maximum * 1e6, r.seconds.count, r.speedup,
                  r.verified ? "" : "  WRONG: not page-locked, or damaged");
  }
}

void write_goals(std::ostream& out, std::vector<Goal> const& goals) {
  out << "\nGoals, meant for a GPU of the H200's class; of several sizes the worst counts.\n\n";
  out << format("%-44s %10s %14s  %-9s %s\n", "goal", "wanted", "measured", "at", "reached");
  for (Goal const& goal : goals) {
    std::string const wanted =
        format("%s %g %s", goal.at_least ? ">=" : "<=", goal.wanted, goal.unit.c_str());
    std::string const measured =
        goal.measured ? format("%.3f %s", *goal.measured, goal.unit.c_str()) : "not measured";
    out << format("%-44s %10s %14s  %-9s %s\n", goal.what.c_str(), wanted.c_str(), measured.c_str(),
                  goal.where.c_str(),
                  !goal.measured   ? ""
                  : goal.reached() ? "yes"
                                   : "NO");
  }
}

void write(Json& json, Latency const& result) {
  json.open('{');
  json.value("situation", name(result.situation));
  json.value("memory", result.way);
  json.value("bytes", result.bytes);
  json.value("threads", result.threads);
  write(json, "seconds", result.seconds);
  json.value("speedup_of_pinned_space", result.speedup);
  json.value("verified", result.verified);
  json.close('}');
}

void write(Json& json, Goal const& goal) {
  json.open('{');
  json.value("goal", goal.what);
  json.value("unit", goal.unit);
  json.value("relation", goal.at_least ? "at least" : "at most");
  json.value("wanted", goal.wanted);
  json.value("is_measured", goal.measured.has_value());
  if (goal.measured) json.value("measured", *goal.measured);
  json.value("at", goal.where);
  json.value("reached", goal.reached());
  json.close('}');
}

}  // namespace

void write_table(std::ostream& out, Machine const& machine, AllocResults const& results) {
  write_machine(out, machine);
  for (PlainMemory const& memory : plain_memories())
    if (!memory.why_not.empty())
      out << "Left out: " << memory.name << ", " << memory.why_not << '\n';
  write_allocations(out, results.cold, results.cold_repetitions);
  for (Situation situation :
       {Situation::warm, Situation::busy, Situation::free, Situation::threads})
    write_latencies(out, situation, results.latencies);
  write_goals(out, check_goals(results.cold, results.latencies));
}

void write_json(std::ostream& out, Machine const& machine, AllocResults const& results) {
  Json json(out);
  json.open('{');
  json.open('{', "context");
  write_machine(json, machine);
  json.value("cold_repetitions", results.cold_repetitions);
  json.close('}');
  json.open('[', "left_out");
  for (PlainMemory const& memory : plain_memories()) {
    if (memory.why_not.empty()) continue;
    json.open('{');
    json.value("memory", memory.name);
    json.value("reason", memory.why_not);
    json.close('}');
  }
  json.close(']');
  write_allocations(json, "cold", results.cold);
  json.open('[', "latencies");
  for (Latency const& latency : results.latencies) write(json, latency);
  json.close(']');
  json.open('[', "goals");
  for (Goal const& goal : check_goals(results.cold, results.latencies)) write(json, goal);
  json.close(']');
  json.close('}');
  out << '\n';
}

}  // namespace KokkosHostSpaces::Perf
