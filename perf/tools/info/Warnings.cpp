// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include "../../support/Format.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {
namespace {

using Warnings = std::vector<Warning>;

std::string gpu_name(std::size_t index) { return "GPU " + std::to_string(index); }

// The nodes are not known without hwloc.
bool may_use(Findings const& findings, int node) {
  return findings.nodes.empty() ||
         std::ranges::any_of(findings.nodes,
                             [=](NumaNode const& allowed) { return allowed.index == node; });
}

void check_device(Findings const& findings, Warnings& warnings) {
  if (!findings.with_cuda || !findings.gpus.empty()) return;
  warnings.push_back(
      {"no_gpu", "There is no GPU to use (" + findings.why_no_gpu + ")",
       "See whether nvidia-smi shows one. If not: run this where there is one, install the driver, "
       "or hand the GPU to the container (docker --gpus all). If so: look at CUDA_VISIBLE_DEVICES, "
       "and for a driver older than the toolkit"});
}

void check_huge_pages(Findings const& findings, Warnings& warnings) {
  if (!findings.huge_pages_asked)
    warnings.push_back(
        {"huge_pages",
         "KOKKOS_HOST_SPACES_HUGE_PAGES is off (page-locking takes about twice as long)",
         "Unset it"});
  else if (findings.huge_pages == "never")
    warnings.push_back(
        {"huge_pages",
         "The system gives no transparent huge pages (page-locking takes about twice as long)",
         "As root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; for ever: boot with "
         "transparent_hugepage=madvise"});
}

void check_placement(Findings const& findings, std::size_t index, Warnings& warnings) {
  Gpu const& gpu      = findings.gpus[index];
  int const near_node = gpu.near_node >= 0 ? gpu.near_node : gpu.node;
  if (near_node >= 0 && !may_use(findings, near_node)) {
    warnings.push_back(
        {"near_node_not_allowed",
         gpu_name(index) + format(" is near NUMA node %d, where this process may not allocate "
                                  "(copies cross the link between sockets)",
                                  near_node),
         "Start the process on that node: ask the batch system for the cores near the GPU (srun "
         "--gpu-bind=closest), or give the process another GPU or other memory (numactl --membind, "
         "docker --cpuset-mems)"});
  } else if (gpu.rates && gpu.rates->buffer_node >= 0 && near_node >= 0 &&
             gpu.rates->buffer_node != near_node) {
    warnings.push_back(
        {"wrong_node",
         gpu_name(index) + format(" is near NUMA node %d, and memory for it was given on node %d "
                                  "(copies cross the link between sockets)",
                                  near_node, gpu.rates->buffer_node),
         format("Free memory on node %d (numactl --hardware shows what is left), and do not set "
                "KOKKOS_HOST_SPACES_NUMA=off",
                near_node)});
  }
}

void check_link(Findings const& findings, std::size_t index, Warnings& warnings) {
  Gpu const& gpu = findings.gpus[index];
  if (!gpu.rates || !gpu.rates->link.is_known() || !gpu.max_link.is_known()) return;
  constexpr double usual_share = 0.6;  // a healthy machine reaches 0.85
  Link const& link             = gpu.rates->link;
  double const rate            = std::max(gpu.rates->to_device, gpu.rates->to_host);
  if (rate > link_rate(gpu.max_link)) return;  // another link, such as NVLink to the host
  if (link.speed < gpu.max_link.speed || link.lanes < gpu.max_link.lanes) {
    warnings.push_back({"slow_link",
                        gpu_name(index) + " is linked by " + link_name(link) +
                            " under load, and could be by " + link_name(gpu.max_link),
                        "Look at the slot (lspci -vv shows LnkCap of GPU and slot), the riser, and "
                        "the link speed in the firmware's setup; some slots share their lanes"});
  } else if (rate < usual_share * link_rate(link)) {
    warnings.push_back(
        {"slow_copies",
         gpu_name(index) +
             format(
                 ": copies of page-locked memory reach %.1f GB/s of the %.1f GB/s that its link, ",
                 rate / 1e9, link_rate(link) / 1e9) +
             link_name(link) + ", carries",
         "Measure again on an idle machine; if it stays so, look for a shared PCIe switch, memory "
         "on another node, an IOMMU, or too few memory channels"});
  }
}

void check_iommu(Findings const& findings, std::size_t index, Warnings& warnings) {
  std::string const& domain = findings.gpus[index].iommu_domain;
  if (!domain.starts_with("DMA")) return;
  warnings.push_back(
      {"iommu",
       gpu_name(index) +
           " reaches host memory through an IOMMU that translates addresses (domain " + domain +
           "; page-locking and copies can be slower, and peer-to-peer copies can fail)",
       "Boot with iommu=pt, or switch the IOMMU off in the firmware's setup if no virtual machine "
       "needs it"});
}

void check_limits(Findings const& findings, Warnings& warnings) {
  constexpr std::size_t little = std::size_t(1) << 30;
  if (!findings.gpus.empty() && findings.locked_memory_limit.value_or(little) < little)
    warnings.push_back({"locked_memory",
                        "Locked memory is limited to " + size_name(*findings.locked_memory_limit) +
                            " (CUDA usually does not count against the limit; MPI over InfiniBand, "
                            "which registers the same buffers, does)",
                        "ulimit -l unlimited; in a container --ulimit memlock=-1; with Slurm "
                        "PropagateResourceLimitsExcept=MEMLOCK"});
  if (findings.container_limit.value_or(findings.memory_bytes) < findings.memory_bytes)
    warnings.push_back(
        {"container_limit",
         "This process may use " + size_name(*findings.container_limit) + " of the machine's " +
             size_name(findings.memory_bytes) +
             " (it is ended, not refused, when it uses more, and page-locked memory counts)",
         "Ask for more (srun --mem, docker --memory), or set KOKKOS_HOST_SPACES_POOL_LIMIT well "
         "below it, so that an allocation fails with a message instead"});
}

void check_ranks(Findings const& findings, Warnings& warnings) {
  pool::NodeShare const& share = findings.node_share;
  if (share.bytes == 0 || !share.source.empty()) return;
  warnings.push_back({"ranks_of_node",
                      "KOKKOS_HOST_SPACES_NODE_LIMIT is set, and no launcher tells how many ranks "
                      "share the node (each of them may have all of the limit)",
                      "Start this as the application is started (mpirun, srun), or set "
                      "KOKKOS_HOST_SPACES_NODE_RANKS"});
}

void check_cores(Findings const& findings, Warnings& warnings) {
  constexpr int few = 4;
  if (findings.cores_allowed == 0 || findings.cores_allowed >= few ||
      findings.cores_allowed >= findings.cores_online)
    return;
  warnings.push_back({"few_cores",
                      format("This process may run on %d of %d cores (one core page-locks at a "
                             "quarter of the rate of sixteen, and host kernels share it)",
                             findings.cores_allowed, findings.cores_online),
                      "Ask for more (srun --cpus-per-task, mpirun --bind-to none or --map-by "
                      "slot:PE=n, docker --cpuset-cpus, taskset)"});
}

}  // namespace

std::vector<Warning> warnings_of(Findings const& findings) {
  Warnings warnings;
  check_device(findings, warnings);
  check_huge_pages(findings, warnings);
  for (std::size_t gpu = 0; gpu < findings.gpus.size(); ++gpu) {
    check_placement(findings, gpu, warnings);
    check_link(findings, gpu, warnings);
    check_iommu(findings, gpu, warnings);
  }
  check_limits(findings, warnings);
  check_ranks(findings, warnings);
  check_cores(findings, warnings);
  return warnings;
}

}  // namespace KokkosHostSpaces::Perf
