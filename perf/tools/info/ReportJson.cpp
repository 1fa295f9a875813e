// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include "../../../backend/Json.hpp"

#include <limits>
#include <ostream>

namespace KokkosHostSpaces::Perf {
namespace {

using Impl::Backend::Json;

void write_limit(Json& json, std::string const& key, std::optional<std::size_t> limit) {
  if (limit)
    json.value(key, *limit);
  else
    json.value(key, std::numeric_limits<double>::infinity());  // null
}

void write_link(Json& json, std::string const& key, Link const& link) {
  json.open('{', key);
  json.value("generation", pcie_generation(link.speed));
  json.value("lanes", link.lanes);
  json.value("bytes_per_s", link_rate(link));
  json.close('}');
}

void write_rates(Json& json, GpuRates const& rates) {
  json.open('{', "rates");
  json.value("bytes", rates.bytes);
  json.value("page_lock_bytes_per_s", rates.page_lock);
  json.value("to_device_bytes_per_s", rates.to_device);
  json.value("to_host_bytes_per_s", rates.to_host);
  json.value("both_bytes_per_s", rates.both);
  json.value("huge_pages", rates.huge_pages);
  json.value("buffer_node", rates.buffer_node);
  write_link(json, "link_under_load", rates.link);
  json.value("verified", rates.verified);
  json.close('}');
}

void write_gpu(Json& json, Gpu const& gpu) {
  json.open('{');
  json.value("name", gpu.name);
  json.value("pci_bus_id", gpu.pci_bus_id);
  json.value("compute_capability", gpu.compute_capability);
  json.value("memory_bytes", gpu.memory_bytes);
  write_link(json, "link", gpu.link);
  write_link(json, "max_link", gpu.max_link);
  json.value("iommu_domain", gpu.iommu_domain);
  json.value("node", gpu.node);
  json.value("near_node", gpu.near_node);
  if (gpu.rates) write_rates(json, *gpu.rates);
  json.close('}');
}

void write_host(Json& json, Findings const& findings) {
  json.open('{', "host");
  json.value("cores_online", findings.cores_online);
  json.value("cores_allowed", findings.cores_allowed);
  json.value("memory_bytes", findings.memory_bytes);
  json.value("memory_available_bytes", findings.memory_available_bytes);
  write_limit(json, "container_limit_bytes", findings.container_limit);
  write_limit(json, "locked_memory_limit_bytes", findings.locked_memory_limit);
  json.open('{', "node_share");
  json.value("bytes", findings.node_share.bytes);
  json.value("ranks", findings.node_share.ranks);
  json.value("source", findings.node_share.source);
  json.close('}');
  json.value("huge_pages", findings.huge_pages);
  json.value("huge_pages_defrag", findings.huge_pages_defrag);
  json.value("huge_pages_shmem", findings.huge_pages_shmem);
  json.open('[', "numa_nodes");
  for (NumaNode const& node : findings.nodes) {
    json.open('{');
    json.value("index", node.index);
    json.value("cores", node.cores);
    json.close('}');
  }
  json.close(']');
  if (findings.host_rates) {
    HostRates const& rates = *findings.host_rates;
    json.open('{', "rates");
    json.value("bytes", rates.bytes);
    json.value("touch_bytes_per_s", rates.touch);
    json.value("copy_bytes_per_s", rates.copy);
    json.value("huge_pages", rates.huge_pages);
    json.value("verified", rates.verified);
    json.close('}');
  }
  json.close('}');
}

}  // namespace

void write_json(std::ostream& out, Findings const& findings, std::vector<Warning> const& warnings) {
  Json json(out);
  json.open('{');
  json.value("why_no_gpu", findings.why_no_gpu);
  json.value("driver", findings.driver);
  json.open('[', "gpus");
  for (Gpu const& gpu : findings.gpus) write_gpu(json, gpu);
  json.close(']');
  write_host(json, findings);
  json.open('[', "warnings");
  for (Warning const& warning : warnings) {
    json.open('{');
    json.value("name", warning.name);
    json.value("problem", warning.problem);
    json.value("remedy", warning.remedy);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  out << '\n';
}

}  // namespace KokkosHostSpaces::Perf
