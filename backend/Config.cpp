// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Config.hpp"

#include "Error.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

[[noreturn]] void refuse(std::string const& name, std::string const& value,
                         std::string const& allowed) {
  throw ConfigurationError("the environment variable " + name + " is '" + value +
                           "' (which makes no sense): set it to " + allowed + ", or unset it");
}

void parse(std::string const& name, std::string const& value, bool& out) {
  if (value != "on" && value != "off") refuse(name, value, "on or off");
  out = value == "on";
}

// Reads a number and returns what is left of the text; nothing if it does not begin with a number
// that fits.
template <class Number>
std::optional<std::string_view> read_number(std::string_view text, Number& out) {
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return std::nullopt;
  return text.substr(static_cast<std::size_t>(end - text.data()));
}

// Bytes with a suffix; nothing if they are none, or too many.
std::optional<std::size_t> read_bytes(std::string_view value) {
  constexpr std::string_view units = "KMGT";
  std::size_t number               = 0;
  auto const unit                  = read_number(value, number);
  std::size_t const power =
      unit && unit->size() == 1 ? units.find(unit->front()) + 1 : 0;  // 0: unknown
  bool const is_number = unit && (unit->empty() || power > 0);
  if (!is_number || number > (SIZE_MAX >> (10 * power))) return std::nullopt;
  return number << (10 * power);
}

void parse(std::string const& name, std::string const& value, std::size_t& out) {
  auto const bytes = read_bytes(value);
  if (!bytes)
    refuse(name, value, "a number of bytes such as 512M or 64G (suffixes K, M, G, T; 0: no limit)");
  out = *bytes;
}

void parse(std::string const& name, std::string const& value, Config::NodeLimit& out) {
  if (auto const bytes = read_bytes(value)) {
    out = {*bytes, 0};
    return;
  }
  int percent = 0;
  if (read_number<int>(value, percent) != "%" || percent < 1 || percent > 100)
    refuse(name, value,
           "a number of bytes such as 512G (suffixes K, M, G, T; 0: no limit), or a share of the "
           "node's memory from 1% to 100%");
  out = {0, percent};
}

void parse(std::string const& name, std::string const& value, int& out) {
  constexpr int most = 1024;
  int number         = 0;
  if (read_number(value, number) != "" || number < 1 || number > most) {
    refuse(name, value, "a whole number from 1 to 1024");
  }
  out = number;
}

void parse(std::string const& name, std::string const& value, std::string& out) {
  if (value.empty()) refuse(name, value, "the path of a file, or off");
  out = value;
}

}  // namespace

std::optional<std::string> environment_variable(std::string const& name) {
  char const* const value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

Config Config::read(Lookup const& lookup) {
  Config config;
  auto const read_one = [&](std::string const& suffix, auto& out) {
    std::string const name = "KOKKOS_HOST_SPACES_" + suffix;
    if (auto const value = lookup(name)) parse(name, *value, out);
  };
  read_one("POOL_LIMIT", config.pool_limit);
  read_one("NODE_LIMIT", config.node_limit);
  read_one("NODE_RANKS", config.node_ranks);
  read_one("HUGE_PAGES", config.huge_pages);
  read_one("NUMA", config.numa);
  read_one("TOUCH_THREADS", config.touch_threads);
  read_one("SHORTAGE_TIMEOUT", config.shortage_timeout);
  read_one("STREAM_MEMORY", config.stream_memory);
  read_one("POOL", config.pool);
  read_one("CALIBRATION", config.calibration);
  read_one("THRESHOLDS", config.thresholds);
  read_one("PRETEND_DEVICE", config.pretend_device);
  read_one("GUARD", config.guard);
  read_one("VERBOSE", config.verbose);
  return config;
}

// Never destroyed, since static destructors and threads that outlive main may still allocate. (At
// `new Config` nvcc 13 gives up, where it compiles all sources.)
Config const& config() {
  static auto const& of_this_process = *new auto(Config::read(environment_variable));
  return of_this_process;
}

}  // namespace KokkosHostSpaces::Impl::Backend
