// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../perf/tools/info/Findings.hpp"
#include "../support/MadeUpMachine.hpp"
#include "../support/Tests.hpp"

#include <fstream>
#include <sstream>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Perf;
using KokkosHostSpaces::Impl::Backend::Topology;

namespace {

Topology two_nodes() {
  std::ifstream const file(KOKKOS_HOST_SPACES_TEST_TOPOLOGIES "/two-nodes.xml");
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return Topology::from_xml(text.str());
}

}  // namespace

TEST_CASE("a machine is described by its files") {
  MadeUpMachine const system;
  std::string const pci = "/sys/bus/pci/devices/0000:bd:00.0/";
  system.write(pci + "current_link_speed", "2.5 GT/s PCIe");
  system.write(pci + "current_link_width", "8");
  system.write(pci + "max_link_speed", "32.0 GT/s PCIe");
  system.write(pci + "max_link_width", "16");
  system.write(pci + "numa_node", "1");
  system.write(pci + "iommu_group/type", "DMA-FQ");
  system.write("/sys/module/nvidia/version", "580.1");
  system.write("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  system.write("/sys/kernel/mm/transparent_hugepage/defrag", "always [defer] madvise never");
  system.write("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "always [advise] never");
  system.write("/sys/devices/system/cpu/online", "0-63");
  system.write("/proc/self/status", "Cpus_allowed_list:\t4-7");
  system.write("/proc/self/limits", "Max locked memory         65536   65536   bytes");
  // A container that sees the group around its own as the root of all.
  system.write("/proc/self/mountinfo", "35 31 0:32 /job /sys/fs/cgroup ro - cgroup2 cgroup2 rw");
  system.write("/proc/self/cgroup", "0::/job/step");
  system.write("/sys/fs/cgroup/memory.max", "max");
  system.write("/sys/fs/cgroup/step/memory.max", "2147483648");
  system.write("/proc/meminfo", "MemTotal:  4194304 kB\nMemAvailable:  3145728 kB");

  Findings const findings =
      survey({{"GPU", "0000:bd:00.0", "9.0", 1 << 30}}, two_nodes(), system.root);

  REQUIRE(findings.gpus.size() == 1);
  Gpu const& gpu = findings.gpus[0];
  CHECK(gpu.name == "GPU");
  CHECK(gpu.compute_capability == "9.0");
  CHECK(gpu.memory_bytes == 1 << 30);
  CHECK(gpu.link.speed == 2.5);
  CHECK(gpu.link.lanes == 8);
  CHECK(gpu.max_link.speed == 32);
  CHECK(gpu.max_link.lanes == 16);
  CHECK(gpu.node == 1);
  CHECK(gpu.near_node == 1);
  CHECK(gpu.iommu_domain == "DMA-FQ");
  REQUIRE(findings.nodes.size() == 2);
  CHECK(findings.nodes[1].index == 1);
  CHECK(findings.nodes[1].cores == 2);
  CHECK(findings.driver == "580.1");
  CHECK(findings.huge_pages == "never");
  CHECK(findings.huge_pages_defrag == "defer");
  CHECK(findings.huge_pages_shmem == "advise");
  CHECK(findings.cores_online == 64);
  CHECK(findings.cores_allowed == 4);
  CHECK(findings.locked_memory_limit == 65536);
  CHECK(findings.container_limit == std::size_t(2) << 30);
  CHECK(findings.memory_bytes == std::size_t(4) << 30);
  CHECK(findings.memory_available_bytes == std::size_t(3) << 30);
}

TEST_CASE("a machine that tells nothing is described all the same") {
  MadeUpMachine const empty;
  Findings const findings =
      survey({{"GPU", "0000:99:00.0", "9.0", 1 << 30}}, two_nodes(), empty.root);
  REQUIRE(findings.gpus.size() == 1);
  CHECK_FALSE(findings.gpus[0].link.is_known());
  CHECK(findings.gpus[0].node == -1);
  CHECK(findings.gpus[0].near_node == -1);
  CHECK(findings.huge_pages.empty());
  CHECK(findings.cores_allowed == 0);
  CHECK_FALSE(findings.container_limit);
  CHECK_FALSE(findings.locked_memory_limit);
}
