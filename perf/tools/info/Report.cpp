// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include "../../../backend/NodeShare.hpp"
#include "../../support/Format.hpp"

#include <ostream>

namespace KokkosHostSpaces::Perf {
namespace {

std::string limit_in_words(std::optional<std::size_t> limit) {
  return limit ? size_name(*limit) : "no limit";
}

std::string share_in_words(pool::NodeShare const& share) {
  return share.bytes == 0 ? "no limit of the node is set"
                          : size_name(share.bytes) + " of KOKKOS_HOST_SPACES_NODE_LIMIT";
}

std::string or_unknown(std::string const& text) { return text.empty() ? "unknown" : text; }

char const* page_size(bool huge_pages) { return huge_pages ? "huge pages" : "small pages"; }

std::string nodes_as_words(Findings const& findings, int near_node, bool near) {
  if (findings.nodes.empty()) return "unknown (built without hwloc)";
  std::string words;
  for (NumaNode const& node : findings.nodes)
    if ((near_node < 0 || node.index == near_node) == near)
      words +=
          (words.empty() ? "NUMA node " : ", ") + format("%d (%d cores)", node.index, node.cores);
  return words.empty() ? "none" : words;
}

void write_rates(std::ostream& out, GpuRates const& rates) {
  out << format("  page-lock   %.1f GB/s, %s of memory that is new to the process, %s\n",
                rates.page_lock / 1e9, size_name(rates.bytes).c_str(), page_size(rates.huge_pages))
      << format(
             "  copies      %.1f GB/s to the device, %.1f GB/s to the host, %.1f GB/s both at "
             "once\n",
             rates.to_device / 1e9, rates.to_host / 1e9, rates.both / 1e9);
  if (!rates.verified) out << "  WRONG: what arrived is not what was sent\n";
}

void write_gpu(std::ostream& out, std::size_t index, Findings const& findings) {
  Gpu const& gpu   = findings.gpus[index];
  Link const& link = gpu.rates ? gpu.rates->link : gpu.link;
  out << format("GPU %zu: %s, %s, %s, compute capability %s\n", index, gpu.name.c_str(),
                gpu.pci_bus_id.c_str(), size_name(gpu.memory_bytes).c_str(),
                gpu.compute_capability.c_str())
      << format("  link        %s %s, at most %s", link_name(link).c_str(),
                gpu.rates ? "under load" : "now (idle links sleep)",
                link_name(gpu.max_link).c_str());
  if (link.is_known()) out << format(", %.0f GB/s in one direction", link_rate(link) / 1e9);
  out << "\n  IOMMU       " << (gpu.iommu_domain.empty() ? "none" : gpu.iommu_domain)
      << "\n  near        " << nodes_as_words(findings, gpu.near_node, true) << "\n  far         "
      << nodes_as_words(findings, gpu.near_node, false) << '\n';
  if (gpu.rates) write_rates(out, *gpu.rates);
}

}  // namespace

void write_report(std::ostream& out, Findings const& findings,
                  std::vector<Warning> const& warnings) {
  if (findings.gpus.empty())
    out << "No GPU: " << findings.why_no_gpu << '\n';
  else
    out << "Driver " << or_unknown(findings.driver) << '\n';
  for (std::size_t gpu = 0; gpu < findings.gpus.size(); ++gpu) write_gpu(out, gpu, findings);

  out << "Host\n"
      << format("  cores       %d of %d allowed\n", findings.cores_allowed, findings.cores_online)
      << "  memory      " << size_name(findings.memory_available_bytes) << " available of "
      << size_name(findings.memory_bytes) << "; " << nodes_as_words(findings, -1, true)
      << "\n  huge pages  " << or_unknown(findings.huge_pages) << ", defrag "
      << or_unknown(findings.huge_pages_defrag) << ", shared memory "
      << or_unknown(findings.huge_pages_shmem)
      << "\n  limits      locked memory: " << limit_in_words(findings.locked_memory_limit)
      << ", container: " << limit_in_words(findings.container_limit) << "\n  this rank   "
      << share_in_words(findings.node_share) << "; "
      << Impl::Backend::ranks_in_words(findings.node_share) << '\n';

  out << (warnings.empty() ? "No warnings\n" : "Warnings\n");
  for (Warning const& warning : warnings)
    out << "  * " << warning.problem << ".\n    What to do: " << warning.remedy << ".\n";
}

}  // namespace KokkosHostSpaces::Perf
