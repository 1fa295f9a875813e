// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Machine.hpp"

#include "Format.hpp"
#include "System.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <unistd.h>

namespace KokkosHostSpaces::Perf {
namespace {

struct Query {
  char const* key;
  char const* field;  // of nvidia-smi
};

constexpr std::array<Query, 7> queries = {{{"clock_sm", "clocks.sm"},
                                           {"clock_sm_max", "clocks.max.sm"},
                                           {"clock_memory", "clocks.mem"},
                                           {"clock_memory_max", "clocks.max.mem"},
                                           {"ecc", "ecc.mode.current"},
                                           {"power_limit", "power.limit"},
                                           {"power_limit_max", "power.max_limit"}}};

// The output of a command; empty if it fails.
std::string output_of(std::string const& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  return pclose(pipe) == 0 ? text : "";
}

// The first line that is a list of `count` values; empty if there is none.
std::string line_of(std::string const& text, std::size_t values) {
  std::istringstream lines = words_of(text);
  for (std::string line; std::getline(lines, line);)
    if (std::size_t(std::ranges::count(line, ',')) + 1 == values) return line;
  return "";
}

std::string stripped(std::string const& text) {
  char const* const blank = " \t\r\n";
  std::size_t const begin = text.find_first_not_of(blank);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

// The value of a line such as "model name\t: A CPU" in /proc/cpuinfo.
std::string value_of(std::string const& text, std::string const& key) {
  std::istringstream lines = words_of(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return stripped(line.substr(line.find(':') + 1));
  return "";
}

std::string number_or_nothing(int number) { return number > 0 ? std::to_string(number) : ""; }

}  // namespace

std::string host_name() {
  char name[256] = "";
  (void)gethostname(name, sizeof name - 1);
  return name;
}

Facts host_facts(std::string const& root) {
  std::string const cpu    = text_of(root + "/proc/cpuinfo");
  std::string const flags  = value_of(cpu, "flags") + " ";
  std::string const system = root + "/sys/devices/system/";
  return {{"kernel", first_line(root + "/proc/sys/kernel/osrelease")},
          {"host_cpu", value_of(cpu, "model name")},
          // The processor tells it; others than x86 have no such flags.
          {"virtual_machine", flags == " "                                ? ""
                              : flags.find(" hypervisor ") < flags.size() ? "yes"
                                                                          : "no"},
          {"cpu_governor", first_line(system + "cpu/cpu0/cpufreq/scaling_governor")},
          {"numa_nodes", number_or_nothing(count_of_list(first_line(system + "node/online")))}};
}

Facts link_facts(std::string const& pci_bus_id, std::string const& root) {
  Link const now = current_link(pci_bus_id, root), most = max_link(pci_bus_id, root);
  return {
      {"link_generation", number_or_nothing(pcie_generation(now.speed))},
      {"link_generation_max", number_or_nothing(pcie_generation(most.speed))},
      {"link_width", number_or_nothing(now.lanes)},
      {"link_width_max", number_or_nothing(most.lanes)},
      {"gpu_numa_node", first_line(root + "/sys/bus/pci/devices/" + pci_bus_id + "/numa_node")}};
}

Facts gpu_facts(std::string const& pci_bus_id, std::string const& nvidia_smi) {
  // It may hang if a GPU is broken.
  std::string command = "timeout --kill-after=2 20 " + nvidia_smi +
                        " --format=csv,noheader,nounits --id=" + pci_bus_id + " --query-gpu=";
  for (Query const& query : queries) command += std::string(query.field) + ",";
  command.pop_back();
  // Warnings, as of a corrupted infoROM, are lines with fewer values.
  std::istringstream values =
      words_of(line_of(output_of(command + " 2> /dev/null"), queries.size()));
  Facts facts;
  for (Query const& query : queries) {
    std::string value;
    std::getline(values, value, ',');
    value = stripped(value);
    facts.emplace_back(query.key,
                       value.starts_with('[') || value == "N/A" ? "" : value);  // [Not Supported]
  }
  return facts;
}

}  // namespace KokkosHostSpaces::Perf
