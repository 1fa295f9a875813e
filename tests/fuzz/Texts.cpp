// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A fuzzer of the texts that come from outside: each is refused by an Error, or read as something that makes sense. The
// first letter of an input tells what the rest is.

#include "Fuzz.hpp"

#include "../../backend/Config.hpp"
#include "../../backend/Error.hpp"
#include "../../backend/NodeShare.hpp"
#include "../../backend/os/MemoryLimit.hpp"
#ifdef KOKKOS_HOST_SPACES_FUZZ_TOPOLOGIES
#include "../../backend/os/Topology.hpp"
#endif

#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

namespace fs   = std::filesystem;
namespace khs  = KokkosHostSpaces;
namespace Impl = khs::Impl;
using namespace Impl::Backend;

// Removed at exit.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("khs_fuzz." + std::to_string(getpid()));
  Folder() { fs::create_directories(path / "proc/self"); }
  ~Folder() { fs::remove_all(path); }
};
fs::path const& folder() {
  static Folder const made;
  return made.path;
}

void write(fs::path const& path, std::string const& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// What a size means, computed in another way.
long double as_size(std::string const& text) {
  char* end          = nullptr;
  long double number = std::strtold(text.c_str(), &end);
  auto const power   = std::string("BKMGT").find(static_cast<char>(std::toupper(*end)));
  for (std::size_t i = 0; *end != '\0' && i < power; ++i) number *= 1024;
  return number;
}

void check_size(std::optional<std::string> const& text, std::size_t read) {
  if (!text) return;
  long double const meant = as_size(*text);
  expect(std::fabs(static_cast<long double>(read) - meant) <= 1 + meant * 1e-9L,
         "a size is what its text says");
}

// Lines "NAME=value" are the environment; ours are without their prefix.
void read_configuration(std::string const& text) {
  std::map<std::string, std::string> environment;
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string const name    = line.substr(0, equals);
    bool const is_of_launcher = name.starts_with("SLURM") || name.starts_with("FLUX") ||
                                name.starts_with("PALS") || name.starts_with("PMI") ||
                                name.starts_with("MV2") || name.find("MPI") != std::string::npos;
    std::string const whole_name = (is_of_launcher ? "" : "KOKKOS_HOST_SPACES_") + name;
    environment[whole_name]      = line.substr(equals + 1);
    names.push_back(whole_name);
  }
  auto const lookup = [&](std::string const& name) {
    auto const found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  try {
    Config const config = Config::read(lookup);
    check_size(lookup("KOKKOS_HOST_SPACES_POOL_LIMIT"), config.pool_limit);
    check_size(lookup("KOKKOS_HOST_SPACES_STREAM_MEMORY"), config.stream_memory);
    if (config.node_limit.percent == 0)
      check_size(lookup("KOKKOS_HOST_SPACES_NODE_LIMIT"), config.node_limit.bytes);
    expect(config.node_limit.percent >= 0 && config.node_limit.percent <= 100,
           "a share is 0 to 100 %");
    expect(config.shortage_timeout >= 1 && config.shortage_timeout <= 1024, "a timeout is bounded");
    expect(config.touch_threads >= 0 && config.touch_threads <= 1024, "threads are bounded");
    expect(notices(config, names, false).size() <= names.size() + 1, "a name has one notice");
    khs::pool::NodeShare const share = share_of_node(config, lookup, std::size_t(1) << 40);
    expect(share.ranks >= 1, "a node has a rank");
    expect(share.bytes <= std::max<std::size_t>({config.node_limit.bytes, std::size_t(1) << 40, 1}),
           "a share is no more than all");
    bool const is_limited = config.node_limit.bytes > 0 || config.node_limit.percent > 0;
    expect(is_limited == (share.bytes > 0), "a limit of the node is one of each rank");
    expect(!ranks_in_words(share).empty(), "a share has words");
  } catch (khs::ConfigurationError const&) {
  }
}

void read_thresholds(std::string const& text) {
  try {
    Impl::CopyThresholds const table = Impl::read_copy_thresholds(text, "file");
    expect(table.few_calls >= 1 && table.equal_run_bytes >= 1 && table.staging_bytes >= 1 << 16,
           "thresholds are such that copies can be planned");
  } catch (khs::ConfigurationError const&) {
  }
}

// Three files, divided by lines "--": mountinfo, the groups of the process, and a limit.
void read_control_groups(std::string const& text) {
  auto const first = text.find("--\n"), second = text.find("--\n", first + 1);
  if (first == std::string::npos || second == std::string::npos) return;
  write(folder() / "proc/self/mountinfo", text.substr(0, first));
  write(folder() / "proc/self/cgroup", text.substr(first + 3, second - first - 3));
  for (char const* const name : {"memory.max", "memory.limit_in_bytes", "memory.stat"})
    write(folder() / name, text.substr(second + 3));
  GroupMemory const groups = memory_of_cgroups(folder());
  expect(groups.limit > 0, "a limit leaves something");
  expect(groups.left <= groups.limit, "no more is left than the limit");
}

#ifdef KOKKOS_HOST_SPACES_FUZZ_TOPOLOGIES
void ask(Topology const& topology, std::string const& device) {
  auto const nodes  = topology.allowed_nodes();
  int const nearest = topology.nearest_node(device);
  expect(nearest == -1 || std::find(nodes.begin(), nodes.end(), nearest) != nodes.end(),
         "the nearest node is one of the allowed");
  for (int const node : nodes)
    expect(topology.allowed_cores(node) <= topology.allowed_cores(-1),
           "a node has a part of all cores");
  (void)topology.cores_for(nearest);
}

// Lists of nodes with cores and PCI devices, of the machines of the tests. (The XML is never damaged: hwloc, which reads
// it, crashes then.)
void read_nodes(std::string const& text) {
  static std::vector<std::string> const machines = [] {
    std::vector<std::string> documents;
    for (auto const& entry : fs::directory_iterator(KOKKOS_HOST_SPACES_FUZZ_TOPOLOGIES)) {
      std::ifstream file(entry.path());
      documents.emplace_back(std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>());
    }
    std::sort(documents.begin(), documents.end());
    return documents;
  }();
  auto const end = std::min(text.find('\n'), text.size());
  ask(Topology::from_xml(machines[text.size() % machines.size()], text.substr(0, end)),
      text.substr(std::min(end + 1, text.size())));
}
#endif

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  tell_operations_at_exit();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  std::string const text(reinterpret_cast<char const*>(data), size), rest = text.substr(1);
  switch (text[0]) {
    case 'c': read_configuration(rest); break;
    case 't': read_thresholds(rest); break;
    case 'g': read_control_groups(rest); break;
#ifdef KOKKOS_HOST_SPACES_FUZZ_TOPOLOGIES
    case 'n': read_nodes(rest); break;
#endif
    default: break;
  }
  ++fuzz_operations;
  return 0;
}
