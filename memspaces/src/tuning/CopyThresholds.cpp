// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include "../../../backend/Config.hpp"
#include "../../../backend/Text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// A threshold that a file may set.
struct NamedThreshold {
  char const* name;
  std::size_t least, most;
  std::size_t& (*of)(CopyThresholds& table);
};

constexpr std::array named_thresholds = {
    NamedThreshold{"few_calls", 1, 64 * KiB,
                   [](CopyThresholds& t) -> std::size_t& { return t.few_calls; }},
    NamedThreshold{"equal_run_bytes", 1, 4 * KiB,
                   [](CopyThresholds& t) -> std::size_t& { return t.equal_run_bytes; }},
    NamedThreshold{"staging_bytes", 64 * KiB, 64 * GiB,
                   [](CopyThresholds& t) -> std::size_t& { return t.staging_bytes; }},
    NamedThreshold{"longest_of_8_pieces_by_kernel", 0, MiB,
                   [](CopyThresholds& t) -> std::size_t& { return t.by_kernel[0].most_bytes; }},
    NamedThreshold{"longest_of_16_pieces_by_kernel", 0, MiB,
                   [](CopyThresholds& t) -> std::size_t& { return t.by_kernel[1].most_bytes; }},
};
static_assert(copy_thresholds.by_kernel[0].least_number == 8 &&
                  copy_thresholds.by_kernel[1].least_number == 16,
              "two names above tell these numbers");

[[noreturn]] void refuse(std::string const& file, std::size_t line, std::string const& problem) {
  throw ConfigurationError("thresholds of copies in " + file + ", line " + std::to_string(line) +
                           ": " + problem);
}

std::string allowed_names() {
  std::string names;
  for (NamedThreshold const& entry : named_thresholds)
    names.append(names.empty() ? "" : ", ").append(entry.name);
  return names;
}

std::optional<std::size_t> number_in(std::string const& text) {
  std::size_t number       = 0;
  char const* const end    = text.data() + text.size();
  auto const [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace

CopyThresholds read_copy_thresholds(std::string const& text, std::string const& file) {
  CopyThresholds table;
  Backend::InText lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    Backend::InText words(line);
    std::string name, value, rest;
    words >> name >> value >> rest;
    if (name.empty() || name.starts_with('#')) continue;
    auto const entry = std::ranges::find_if(
        named_thresholds, [&](NamedThreshold const& e) { return name == e.name; });
    if (entry == named_thresholds.end())
      refuse(file, number, "'" + name + "' is unknown: the names are " + allowed_names());
    auto const found = number_in(value);
    if (!found || *found < entry->least || *found > entry->most || !rest.empty())
      refuse(file, number,
             "'" + value + (rest.empty() ? "" : " ") + rest + "' is no value of " + name +
                 ": set it to a number from " + std::to_string(entry->least) + " to " +
                 std::to_string(entry->most));
    entry->of(table) = *found;
  }
  return table;
}

CopyThresholds const& copy_thresholds_in_use() {
  static CopyThresholds const table = [] {
    std::string const& file = Backend::config().thresholds;
    if (file.empty() || file == "off") return CopyThresholds{};
    std::ifstream in(file);
    in.peek();  // a directory can be opened, but not read
    if (!in)
      throw ConfigurationError("the environment variable KOKKOS_HOST_SPACES_THRESHOLDS is '" +
                               file +
                               "' (which cannot be read): set it to the path of a file, or to off");
    return read_copy_thresholds({std::istreambuf_iterator<char>(in), {}}, file);
  }();
  return table;
}

}  // namespace KokkosHostSpaces::Impl
