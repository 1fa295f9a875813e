// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Context.hpp"

#include "../plain/Platform.hpp"
#include "../support/Machine.hpp"
#include "../support/System.hpp"
#include "Groups.hpp"

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <sstream>

namespace KokkosHostSpaces::Perf {
namespace {

void add(std::string const& key, std::string const& value) {
  benchmark::AddCustomContext(key, value);
}

void add(Facts const& facts) {
  for (auto const& [key, value] : facts) add(key, value);
}

// Facts about the device of this rank; none without a device.
Facts device_facts() {
  std::vector<Device> const devices = list_devices();
  if (devices.empty()) return {};
  std::string const bus_id = devices[std::size_t(current_device())].pci_bus_id;
  Facts facts              = {{"gpu_bus_id", bus_id}};
  for (Facts const& more : {link_facts(bus_id), gpu_facts(bus_id)})
    facts.insert(facts.end(), more.begin(), more.end());
  return facts;
}

void add_device(Facts const& facts) {
  std::vector<Device> const devices = list_devices();
  add("gpu", devices.empty() ? "" : devices[std::size_t(current_device())].name);
  if (devices.empty()) return;
  add("driver_version", first_line("/sys/module/nvidia/version"));
  add("cuda_driver_version", cuda_driver_version());
  add("cuda_runtime_version", cuda_runtime_version());
  add(facts);
}

// Add a line of key:value for each rank, with those facts of its device that differ within one model.
void add_places(Ranks const& ranks, Facts const& device, std::string const& cores) {
  std::string place = "host:" + host_name() + " cores:" + cores;
  for (auto const& [key, value] : device)
    if (!key.ends_with("_max") && !value.empty()) place += " " + key + ":" + value;
  std::vector<std::string> const places = ranks.of_all(place);
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    add("rank_" + std::to_string(rank), places[rank]);
}

// Names of the chosen groups, or of all groups if none was chosen.
std::string names_of(std::vector<std::string> chosen) {
  if (chosen.empty())
    for (Group const& group : groups()) chosen.push_back(group.name);
  std::string names;
  for (std::string const& name : chosen) names += (names.empty() ? "" : ",") + name;
  return names;
}

bool has_group(SuiteOptions const& options, std::string const& name) {
  return options.groups.empty() || std::ranges::find(options.groups, name) != options.groups.end();
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

void describe_context(SuiteOptions const& options, Ranks const& ranks, std::string const& cores) {
  bool const quick = options.effort.mode == Mode::quick;
  // Only the group stream uses all devices, and initialising each takes time.
  bool const all                  = !quick || has_group(options, "stream");
  std::vector<Limit> const limits = measure_limits(ranks, quick, all);  // wakes link and clocks up
  Facts const device              = device_facts();
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration);
  add("mode", name(options.effort.mode));
  add("groups", names_of(options.groups));
  add("filter", options.filter == SuiteOptions().filter ? "" : options.filter);
  add("ranks", std::to_string(ranks.size()));
  add("gpus", std::to_string(baselines_use_cuda ? ranks.size() : 0));
  add("visible_gpus", std::to_string(list_devices().size()));
  add(host_facts());
  add_device(device);
  add_places(ranks, device, cores);
  add("huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  add("kokkos_version", kokkos_version());
  add("kokkos_configuration", configuration.str());
  add("execution_space", Kokkos::DefaultHostExecutionSpace::name());
  add("host_threads", std::to_string(Kokkos::DefaultHostExecutionSpace().concurrency()));
  add("cores_of_first_rank", cores);
  add("compiler", compiler());
  add(build_facts());
  add("commit", commit());
  for (Limit const& limit : limits)
    add("limit_" + limit.name, std::to_string(limit.bytes_per_second));
}

}  // namespace KokkosHostSpaces::Perf
