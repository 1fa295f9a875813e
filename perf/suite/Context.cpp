// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Context.hpp"

#include "../plain/Platform.hpp"
#include "../support/System.hpp"
#include "Limits.hpp"

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>

#include <sstream>

namespace KokkosHostSpaces::Perf {
namespace {

void add(std::string const& key, std::string const& value) {
  benchmark::AddCustomContext(key, value);
}

std::string number_or_nothing(int number) { return number > 0 ? std::to_string(number) : ""; }

void add_link(std::string const& suffix, Link const& link) {
  add("link_generation" + suffix, number_or_nothing(pcie_generation(link.speed)));
  add("link_width" + suffix, number_or_nothing(link.lanes));
}

void add_device() {
  std::vector<Device> const devices = list_devices();
  if (devices.empty()) return add("gpu", "");
  Device const& device = devices[std::size_t(current_device())];
  add("gpu", device.name);
  add("driver_version", first_line("/sys/module/nvidia/version"));
  add("cuda_driver_version", cuda_driver_version());
  add("cuda_runtime_version", cuda_runtime_version());
  add_link("", current_link(device.pci_bus_id));
  add_link("_max", max_link(device.pci_bus_id));
  add("gpu_numa_node", first_line("/sys/bus/pci/devices/" + device.pci_bus_id + "/numa_node"));
}

std::string compiler() {
  std::string text;
#if defined(__clang__)
  text = "Clang " __clang_version__;
#elif defined(__GNUC__)
  text = "GCC " __VERSION__;
#endif
#ifdef KOKKOS_COMPILER_NVCC
  text +=
      ", nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__);
#endif
  return text;
}

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION_MAJOR) + "." + std::to_string(KOKKOS_VERSION_MINOR) + "." +
         std::to_string(KOKKOS_VERSION_PATCH);
}

}  // namespace

void describe_context(Effort const& effort, Ranks const& ranks, std::string const& cores) {
  std::vector<Limit> const limits = measure_limits(ranks);  // wakes the link up, too
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration);
  add("mode", name(effort.mode));
  add("ranks", std::to_string(ranks.size()));
  add("gpus", std::to_string(twins_use_cuda ? ranks.size() : 0));
  add_device();
  add("huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  add("kokkos_version", kokkos_version());
  add("kokkos_configuration", configuration.str());
  add("execution_space", Kokkos::DefaultHostExecutionSpace::name());
  add("host_threads", std::to_string(Kokkos::DefaultHostExecutionSpace().concurrency()));
  add("cores_of_first_rank", cores);
  add("compiler", compiler());
  add("commit", KOKKOS_HOST_SPACES_COMMIT);
  for (Limit const& limit : limits)
    add("limit_" + limit.name, std::to_string(limit.bytes_per_second));
}

}  // namespace KokkosHostSpaces::Perf
