// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include "../../support/Machine.hpp"
#include "../../support/System.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <locale>
#include <sstream>
#include <system_error>

namespace KokkosHostSpaces::Audit {
namespace {

std::string environment(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The file with the library's measurements: see memspaces/docs/Environment.md.
std::string calibration_file() {
  std::string const told = environment("KOKKOS_HOST_SPACES_CALIBRATION");
  if (!told.empty()) return told == "off" ? "" : told;
  std::string folder = environment("XDG_CACHE_HOME");
  if (!folder.starts_with('/')) {
    folder = environment("HOME");
    if (!folder.starts_with('/')) return "";
    folder += "/.cache";
  }
  return folder + "/kokkos-host-spaces/calibration";
}

// Limit of the size, since any file may have been named by mistake.
std::string text_of_small(std::string const& file) {
  constexpr std::uintmax_t most_bytes = 16 << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return "";
  auto const bytes = std::filesystem::file_size(file, error);
  return error || bytes > most_bytes ? "" : Perf::text_of(file);
}

}  // namespace

std::optional<Link> link_in(std::string const& calibration, std::string const& machine) {
  // Another version has another meaning, and a number may be cut.
  if (!calibration.starts_with("Kokkos Host Spaces calibration 1\n")) return std::nullopt;
  constexpr double slowest = 1e6, fastest = 1e15;
  Link link;
  bool here = false;
  std::istringstream lines(calibration);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    std::string key;
    double number = 0;
    words >> key;
    if (key == "machine") here = line == "machine " + machine;
    if (!here || (key != "to_device" && key != "to_host") || !(words >> number)) continue;
    double& rate = link.rate[key == "to_device" ? to_device : to_host];
    if (number > slowest && number < fastest) rate = std::max(rate, number);
  }
  if (link.rate[to_device] <= 0 || link.rate[to_host] <= 0) return std::nullopt;
  return link;
}

Link link_of_this_machine(std::array<double, directions> const& best_seen) {
  std::string const file = calibration_file();
  if (auto link = link_in(text_of_small(file), Perf::host_name())) {
    link->source = "measured by the library before: " + file;
    return *link;
  }
  Link link;
  link.rate = best_seen;
  if (best_seen[to_device] > 0 || best_seen[to_host] > 0)
    link.source = "the best that large copies reached here; the link may carry more";
  return link;
}

}  // namespace KokkosHostSpaces::Audit
