// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Context.hpp"

#include "../Machine.hpp"
#include "../twins/Limits.hpp"

#include <benchmark/benchmark.h>

namespace KokkosHostSpaces::Perf {
namespace {

void add(std::string const& key, std::string const& value) {
  benchmark::AddCustomContext(key, value);
}

// "32.0 GT/s PCIe" is generation 5: each generation doubles the rate of the one before.
std::string link_generation(std::string const& speed) {
  double const rates[] = {2.5, 5, 8, 16, 32, 64, 128};
  for (int i = 0; i < 7; ++i)
    if (!speed.empty() && std::stod(speed) == rates[i]) return std::to_string(i + 1);
  return "";
}

}  // namespace

void describe_context(Effort const& effort, Ranks const& ranks, std::string const& cores) {
  std::vector<Limit> const limits = measure_limits();  // wakes the link up, too
  Machine const machine           = describe_machine();
  add("mode", name(effort.mode));
  add("ranks", std::to_string(ranks.size()));
  add("gpu", machine.device.name);
  add("gpus", std::to_string(twins_use_cuda ? ranks.size() : 0));
  add("driver_version", machine.driver);
  add("cuda_driver_version", machine.device.driver_api);
  add("cuda_runtime_version", machine.device.cuda_runtime);
  add("link_generation", link_generation(machine.link_speed));
  add("link_width", machine.link_width);
  add("link_generation_max", link_generation(machine.max_link_speed));
  add("link_width_max", machine.max_link_width);
  add("gpu_numa_node", machine.numa_node);
  add("huge_pages", machine.huge_pages);
  add("kokkos_version", machine.kokkos_version);
  add("kokkos_configuration", machine.kokkos_configuration);
  add("execution_space", machine.host_name_of_execution_space);
  add("host_threads", std::to_string(machine.host_threads));
  add("cores_of_first_rank", cores);
  add("compiler", machine.compiler);
  add("commit", machine.commit);
  for (Limit const& limit : limits)
    add("limit_" + limit.name, std::to_string(ranks.sum(limit.bytes_per_second)));
}

}  // namespace KokkosHostSpaces::Perf
