// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Json.hpp"
#include "MachineReport.hpp"
#include "Names.hpp"
#include "Report.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

void write(Json& json, Machine const& machine, Results const& results) {
  json.open('{', "context");
  write_machine(json, machine);
  json.value("repetitions", results.repetitions);
  json.value("allocation_repetitions", results.allocation_repetitions);
  json.close('}');
}

void write(Json& json, Comparison const& result) {
  json.open('{');
  json.value("operation", name(result.operation));
  json.value("transport", name(result.transport));
  json.value("bytes", result.bytes);
  json.value("clock",
             twins_use_cuda && result.transport != Transport::pageable ? "device events" : "host");
  json.value("kokkos_gb_per_s", result.rate(result.kokkos_seconds.median) * 1e-9);
  json.value("twin_gb_per_s", result.rate(result.twin_seconds.median) * 1e-9);
  write(json, "kokkos_seconds", result.kokkos_seconds);
  write(json, "twin_seconds", result.twin_seconds);
  write(json, "ratio", result.ratio);
  json.value("verified", result.verified());
  json.close('}');
}

}  // namespace

void write_json(std::ostream& out, Machine const& machine, Results const& results) {
  Json json(out);
  json.open('{');
  write(json, machine, results);
  json.open('[', "comparisons");
  for (Comparison const& result : results.comparisons) write(json, result);
  json.close(']');
  write_allocations(json, "allocations", results.allocations);
  json.close('}');
  out << '\n';
}

}  // namespace KokkosHostSpaces::Perf
