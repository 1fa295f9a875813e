// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../perf/support/Machine.hpp"
#include "../support/MadeUpMachine.hpp"
#include "../support/Tests.hpp"

using namespace KokkosHostSpaces::Perf;

namespace {

std::string fact(Facts const& facts, std::string const& name) {
  for (auto const& [key, value] : facts)
    if (key == name) return value;
  return "there is no such fact";
}

}  // namespace

TEST_CASE("clocks, error correction and power of a GPU are those that nvidia-smi tells") {
  MadeUpMachine const folder;
  std::string const program =
      folder.write("/smi",
                   "#!/bin/sh\n"
                   "case \"$*\" in *--id=0000:17:00.0*clocks.sm,clocks.max.sm,clocks.mem*) ;; *) "
                   "exit 6 ;; esac\n"
                   "echo '1755, 1980, 3201, 3201, Enabled, [N/A], 700.00'\n");
  Facts const facts = gpu_facts("0000:17:00.0", program);
  CHECK(fact(facts, "clock_sm") == "1755");
  CHECK(fact(facts, "clock_sm_max") == "1980");
  CHECK(fact(facts, "clock_memory") == "3201");
  CHECK(fact(facts, "ecc") == "Enabled");
  CHECK(fact(facts, "power_limit") == "");
  CHECK(fact(facts, "power_limit_max") == "700.00");
}

TEST_CASE("values are unknown without nvidia-smi") {
  MadeUpMachine const folder;
  std::string const fails =
      folder.write("/smi", "#!/bin/sh\necho 'No devices were found'\nexit 6\n");
  for (std::string const& program : {fails, folder.root + "/none"})
    for (auto const& [key, value] : gpu_facts("0000:17:00.0", program)) CHECK(value == "");
}

TEST_CASE("warnings of nvidia-smi are no values") {
  MadeUpMachine const folder;
  std::string const program =
      folder.write("/smi",
                   "#!/bin/sh\n"
                   "echo 'WARNING: infoROM is corrupted'\n"
                   "echo '1755, 1980, 3201, 3201, N/A, [Unknown Error], 700.00'\n"
                   "echo 'WARNING: infoROM is corrupted at gpu 0000:17:00.0'\n");
  Facts const facts = gpu_facts("0000:17:00.0", program);
  CHECK(fact(facts, "clock_sm") == "1755");
  CHECK(fact(facts, "ecc") == "");
  CHECK(fact(facts, "power_limit") == "");
  CHECK(fact(facts, "power_limit_max") == "700.00");
  std::string const garbage = folder.write("/garbage", "#!/bin/sh\necho '<html>, what?'\n");
  for (auto const& [key, value] : gpu_facts("0000:17:00.0", garbage)) CHECK(value == "");
}

TEST_CASE("the link of a GPU is told as it is now and at most") {
  MadeUpMachine const folder;
  std::string const pci = "/sys/bus/pci/devices/0000:17:00.0/";
  folder.write(pci + "current_link_speed", "8.0 GT/s PCIe");
  folder.write(pci + "current_link_width", "8");
  folder.write(pci + "max_link_speed", "32.0 GT/s PCIe");
  folder.write(pci + "max_link_width", "16");
  folder.write(pci + "numa_node", "1\n");
  Facts const facts = link_facts("0000:17:00.0", folder.root);
  CHECK(fact(facts, "link_generation") == "3");
  CHECK(fact(facts, "link_generation_max") == "5");
  CHECK(fact(facts, "link_width") == "8");
  CHECK(fact(facts, "link_width_max") == "16");
  CHECK(fact(facts, "gpu_numa_node") == "1");
  CHECK(fact(link_facts("none", folder.root), "link_generation") == "");
}

TEST_CASE("a host is told by its kernel, its CPU and its NUMA nodes") {
  MadeUpMachine const folder;
  folder.write("/proc/sys/kernel/osrelease", "6.1.0-17-amd64\n");
  folder.write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2.0 GHz\nflags\t: fpu\n");
  folder.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  folder.write("/sys/devices/system/node/online", "0-1\n");
  Facts const facts = host_facts(folder.root);
  CHECK(fact(facts, "kernel") == "6.1.0-17-amd64");
  CHECK(fact(facts, "host_cpu") == "Some CPU @ 2.0 GHz");
  CHECK(fact(facts, "virtual_machine") == "no");
  CHECK(fact(facts, "cpu_governor") == "performance");
  CHECK(fact(facts, "numa_nodes") == "2");
  folder.write("/proc/cpuinfo", "model name\t: Some CPU\nflags\t: fpu hypervisor\n");
  CHECK(fact(host_facts(folder.root), "virtual_machine") == "yes");
  CHECK(fact(host_facts(folder.root + "/none"), "host_cpu") == "");
  CHECK(fact(host_facts(folder.root + "/none"), "virtual_machine") == "");
  CHECK_FALSE(fact(host_facts(), "kernel").empty());
  CHECK_FALSE(host_name().empty());
}
