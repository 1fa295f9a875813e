// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "System.hpp"

#include "Format.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr std::array<double, 6> pcie_speeds = {2.5, 5, 8, 16, 32, 64};

Link link_of(std::string const& pci_bus_id, std::string const& root, std::string const& which) {
  std::string const file = root + "/sys/bus/pci/devices/" + pci_bus_id + "/" + which;
  return parse_link(first_line(file + "_link_speed"), first_line(file + "_link_width"));
}

// Call visit(line) for each line until it returns true.
template <class Visit>
void for_each_line(std::string const& text, Visit visit) {
  std::istringstream lines = words_of(text);
  for (std::string line; std::getline(lines, line);)
    if (visit(line)) return;
}

}  // namespace

std::string text_of(std::string const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string first_line(std::string const& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string selected_mode(std::string const& modes) {
  std::size_t const begin = modes.find('[');
  std::size_t const end   = modes.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "";
  return modes.substr(begin + 1, end - begin - 1);
}

Link parse_link(std::string const& speed, std::string const& width) {
  constexpr int most_lanes = 32;
  Link link;
  std::string unit;
  if (!(words_of(speed) >> link.speed >> unit) || unit != "GT/s") link.speed = 0;
  if (!(words_of(width) >> link.lanes) || link.lanes > most_lanes) link.lanes = 0;
  return link;
}

Link current_link(std::string const& pci_bus_id, std::string const& root) {
  return link_of(pci_bus_id, root, "current");
}

Link max_link(std::string const& pci_bus_id, std::string const& root) {
  return link_of(pci_bus_id, root, "max");
}

int pcie_generation(double speed) {
  for (std::size_t i = 0; i < pcie_speeds.size(); ++i)
    if (speed == pcie_speeds[i]) return static_cast<int>(i) + 1;
  return 0;
}

std::string link_name(Link const& link) {
  if (!link.is_known()) return "unknown";
  return "PCIe " + std::to_string(pcie_generation(link.speed)) + " x" + std::to_string(link.lanes);
}

double link_rate(Link const& link) {
  int const generation = pcie_generation(link.speed);
  double const coding  = generation == 0   ? 0
                         : generation <= 2 ? 8. / 10
                         : generation <= 5 ? 128. / 130
                                           : 1;
  return link.speed * 1e9 / 8 * coding * link.lanes;
}

std::optional<std::size_t> parse_bytes(std::string const& text) {
  std::size_t bytes     = 0;
  auto const [end, err] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (err != std::errc() || bytes >= std::size_t(1) << 62) return std::nullopt;
  return bytes;
}

std::optional<std::size_t> locked_memory_limit(std::string const& limits) {
  std::string const key = "Max locked memory";
  std::optional<std::size_t> result;
  for_each_line(limits, [&](std::string const& line) {
    if (!line.starts_with(key)) return false;
    std::string soft;
    if (words_of(line.substr(key.size())) >> soft) result = parse_bytes(soft);
    return true;
  });
  return result;
}

std::optional<std::size_t> meminfo_entry(std::string const& meminfo, std::string const& key) {
  std::optional<std::size_t> result;
  for_each_line(meminfo, [&](std::string const& line) {
    std::istringstream words = words_of(line);
    std::string name;
    std::size_t kibibytes = 0;
    if (!(words >> name >> kibibytes) || name != key + ":") return false;
    result = kibibytes * 1024;
    return true;
  });
  return result;
}

std::vector<int> numbers_of_list(std::string const& list) {
  std::vector<int> numbers;
  std::istringstream items = words_of(list);
  for (std::string item; std::getline(items, item, ',');) {
    std::istringstream range = words_of(item);
    int first = 0, last = 0;
    char dash = 0;
    if (!(range >> first)) continue;
    if (!(range >> dash >> last)) last = first;
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

std::string status_entry(std::string const& status, std::string const& key) {
  std::string result;
  for_each_line(status, [&](std::string const& line) {
    if (!line.starts_with(key + ":")) return false;
    words_of(line.substr(key.size() + 1)) >> result;
    return true;
  });
  return result;
}

}  // namespace KokkosHostSpaces::Perf
