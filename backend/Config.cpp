// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Config.hpp"

#include "Driver.hpp"
#include "Error.hpp"
#include "Text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

[[noreturn]] void refuse(std::string const& name, std::string const& value,
                         std::string const& allowed) {
  throw ConfigurationError("the environment variable " + name + " is '" + value +
                           "' (which makes no sense): set it to " + allowed + ", or unset it");
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

void parse(std::string const& name, std::string const& value, bool& out) {
  std::string const word = lower_case(value);
  out                    = word == "on" || word == "1" || word == "true" || word == "yes";
  if (!out && word != "off" && word != "0" && word != "false" && word != "no")
    refuse(name, value, "on or off (or 1, true, yes; 0, false, no)");
}

// Bytes with a unit such as G, GB, GiB, all of which are 1024^3; nothing if they are none, or too many.
std::optional<std::size_t> read_bytes(std::string_view value) {
  double number = 0;
  auto const [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number, std::chars_format::fixed);
  if (error != std::errc() || value[0] < '0' || value[0] > '9' || end[-1] == '.')
    return std::nullopt;
  auto const digits       = static_cast<std::size_t>(end - value.data());
  std::string const unit  = lower_case(std::string(value.substr(digits)));
  std::size_t const power = unit.empty() ? 0 : std::string_view("bkmgt").find(unit.front());
  bool const is_unit      = unit.empty() || unit == "b" ||
                       (power >= 1 && power <= 4 &&
                        (unit.size() == 1 || unit.substr(1) == "b" || unit.substr(1) == "ib"));
  bool const is_whole = value.substr(0, digits).find('.') == value.npos;
  double const bytes  = is_unit ? std::ldexp(number, static_cast<int>(10 * power)) : 0;
  // 0 is no limit, which rounding must not mean.
  if (!is_unit || bytes >= 0x1p64 || (!is_whole && (power == 0 || bytes < 1))) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

void parse(std::string const& name, std::string const& value, std::size_t& out) {
  auto const bytes = read_bytes(value);
  if (!bytes)
    refuse(
        name, value,
        "a number of bytes such as 512M, 1.5G or 64GB (K, M, G, T are powers of 1024; 0: no limit)");
  out = *bytes;
}

void parse(std::string const& name, std::string const& value, Config::NodeLimit& out) {
  if (auto const bytes = read_bytes(value)) {
    out = {*bytes, 0};
    return;
  }
  std::string_view rest = value;
  auto const percent    = take_number(rest, 1, 100);
  if (!percent || rest != "%")
    refuse(
        name, value,
        "a number of bytes such as 512G (K, M, G, T are powers of 1024; 0: no limit), or a share of the "
        "node's memory from 1% to 100%");
  out = {0, *percent};
}

void parse(std::string const& name, std::string const& value, int& out) {
  std::string_view rest = value;
  auto const number     = take_number(rest, 1, 1024);
  if (!number || !rest.empty()) refuse(name, value, "a whole number from 1 to 1024");
  out = *number;
}

void parse(std::string const& name, std::string const& value, std::string& out) {
  if (value.empty()) refuse(name, value, "the path of a file, or off");
  out = value;
}

constexpr std::string_view prefix = "KOKKOS_HOST_SPACES_";

// All variables of a configuration.
template <class Visitor>
void visit(Config& config, Visitor const& visitor) {
  visitor("POOL_LIMIT", config.pool_limit);
  visitor("NODE_LIMIT", config.node_limit);
  visitor("NODE_RANKS", config.node_ranks);
  visitor("HUGE_PAGES", config.huge_pages);
  visitor("NUMA", config.numa);
  visitor("TOUCH_THREADS", config.touch_threads);
  visitor("SHORTAGE_TIMEOUT", config.shortage_timeout);
  visitor("STREAM_MEMORY", config.stream_memory);
  visitor("POOL", config.pool);
  visitor("MULTI_PATH", config.multi_path);
  visitor("UNBUFFERED", config.unbuffered);
  visitor("THRESHOLDS", config.thresholds);
  visitor("SCRUB", config.scrub);
  visitor("PRETEND_DEVICE", config.pretend_device);
  visitor("GUARD", config.guard);
  visitor("VERBOSE", config.verbose);
}

// Letters to insert, delete or replace (V. Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const replaced = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal                   = row[j + 1];
      row[j + 1]                 = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

std::vector<std::string> names_in_environment() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    std::string_view const entry = *variable;
    names.emplace_back(entry.substr(0, entry.find('=')));  // which may lack one
  }
  return names;
}

Config configure() {
  Config const read = Config::read(environment_variable);
  for (std::string const& notice :
       notices(read, names_in_environment(),
               !read.guard || Driver::presence() != Driver::Presence::none))
    std::fprintf(stderr, "KokkosHostSpaces: %s\n", notice.c_str());
  return read;
}

}  // namespace

std::vector<std::string> notices(Config config, std::vector<std::string> const& environment,
                                 bool has_devices) {
  // Those of tools and scripts, which are not in Config.
  std::vector<std::string> known = {"AUDIT",        "ARCHIVE_DIR",    "ADOPT",      "ADOPT_FORK",
                                    "ADOPT_REPORT", "ADOPT_CHILDREN", "ADOPT_TELLS"};
  std::array const no_more       = {
            std::pair("CALIBRATION", "rates of links are kept in no file"),
            std::pair("CUPTI", "the audit does not tell rates of asynchronous copies")};
  visit(config, [&](char const* suffix, auto const&) { known.push_back(suffix); });
  // Modules and Spack set these for each package.
  std::array const of_package = {"ROOT", "DIR", "HOME", "PREFIX", "INC", "LIB", "VERSION"};
  known.insert(known.end(), of_package.begin(), of_package.end());
  for (std::string& name : known) name.insert(0, prefix);
  auto const last_of_ours = known.end() - std::ptrdiff_t(of_package.size());
  std::vector<std::string> result;
  for (std::string const& name : environment) {
    if (name.rfind("KOKKOS_HOST", 0) != 0 || name.rfind(std::string(prefix) + "TEST_", 0) == 0 ||
        std::find(known.begin(), known.end(), name) != known.end())
      continue;
    auto const is_this = [&](auto const& gone) { return std::string(prefix) + gone.first == name; };
    if (auto const gone = std::ranges::find_if(no_more, is_this); gone != no_more.end()) {
      result.push_back("the environment variable " + name + " has no effect any more (" +
                       gone->second + "): unset it");
      continue;
    }
    auto const distance = [&](std::string const& other) {
      return other.starts_with(name + "_") ? 0 : edit_distance(name, other);
    };
    auto const nearest = std::min_element(
        known.begin(), last_of_ours, [&](auto& a, auto& b) { return distance(a) < distance(b); });
    result.push_back("the environment variable " + name + " is unknown and has no effect: " +
                     *nearest + " is the nearest one that is known");
  }
  if (config.guard && !has_devices)
    result.push_back(std::string(prefix) +
                     "GUARD is on and watches nothing (there is no device, so no copy runs beside "
                     "host code): run the program on a machine with a GPU, in a build with CUDA");
  return result;
}

std::optional<std::string> environment_variable(std::string const& name) {
  char const* const value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

Config Config::read(Lookup const& lookup) {
  Config config;
  visit(config, [&](char const* suffix, auto& out) {
    std::string const name = std::string(prefix) + suffix;
    if (auto const value = lookup(name)) parse(name, *value, out);
  });
  return config;
}

// Never destroyed, since static destructors and threads that outlive main may still allocate. (At
// `new Config` nvcc 13 gives up, where it compiles all sources.)
Config const& config() {
  static auto const& of_this_process = *new auto(configure());
  return of_this_process;
}

}  // namespace KokkosHostSpaces::Impl::Backend
