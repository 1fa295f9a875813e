// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Json.hpp"
#include "Names.hpp"
#include "Report.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

void write(Json& json, std::string const& key, Summary const& summary) {
  json.open('{', key);
  json.value("minimum", summary.minimum);
  json.value("lower_quartile", summary.lower_quartile);
  json.value("median", summary.median);
  json.value("upper_quartile", summary.upper_quartile);
  json.value("maximum", summary.maximum);
  json.close('}');
}

void write(Json& json, Machine const& machine, Results const& results) {
  json.open('{', "context");
  json.value("backend", twins_use_cuda ? "cuda" : "host");
  json.value("twin", twin_name);
  json.value("gpu", machine.device.name);
  json.value("pci_bus_id", machine.device.pci_bus_id);
  json.value("driver", machine.driver);
  json.value("cuda_driver_api", machine.device.driver_api);
  json.value("cuda_runtime", machine.device.cuda_runtime);
  json.value("link_speed", machine.link_speed);
  json.value("link_width", machine.link_width);
  json.value("max_link_speed", machine.max_link_speed);
  json.value("max_link_width", machine.max_link_width);
  json.value("numa_node", machine.numa_node);
  json.value("transparent_huge_pages", machine.huge_pages);
  json.value("host_execution_space", machine.host_name_of_execution_space);
  json.value("host_threads", machine.host_threads);
  json.value("kokkos_version", machine.kokkos_version);
  json.value("kokkos_configuration", machine.kokkos_configuration);
  json.value("compiler", machine.compiler);
  json.value("commit", machine.commit);
  json.value("date", machine.date);
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

void write(Json& json, Allocation const& result) {
  json.open('{');
  json.value("memory", result.way);
  json.value("bytes", result.bytes);
  write(json, "allocate_seconds", result.allocate_seconds);
  write(json, "free_seconds", result.free_seconds);
  write(json, "speedup_of_pinned_space", result.speedup);
  json.value("verified", result.page_locked);
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
  json.open('[', "allocations");
  for (Allocation const& result : results.allocations) write(json, result);
  json.close(']');
  json.close('}');
  out << '\n';
}

}  // namespace KokkosHostSpaces::Perf
