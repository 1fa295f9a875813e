// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Arguments.hpp"

#include <charconv>
#include <sstream>

namespace KokkosHostSpaces::Perf {
namespace {

template <class Integer>
Integer positive(std::string const& option, std::string const& text, Integer unit = 1) {
  Integer value         = 0;
  auto const [end, err] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (err != std::errc() || end != text.data() + text.size() || value <= 0 ||
      value > (Integer(1) << (8 * sizeof(Integer) - 2)) / unit)
    throw UsageError("bad value \"" + text + "\" of " + option +
                     " (not a positive number): see --help");
  return value * unit;
}

std::size_t parse_size(std::string const& option, std::string text) {
  std::size_t unit = 1;
  if (!text.empty()) {
    std::size_t const suffix = std::string("KMG").find(text.back());
    if (suffix != std::string::npos) {
      unit = std::size_t(1) << (10 * (suffix + 1));
      text.pop_back();
    }
  }
  return positive<std::size_t>(option, text, unit);
}

}  // namespace

bool Arguments::next() {
  do {
    if (++m_position >= m_argc) return false;
    m_option = m_argv[m_position];
  } while (m_option.starts_with("--kokkos-"));
  return true;
}

std::string Arguments::value() {
  if (m_position + 1 >= m_argc) throw UsageError(m_option + " needs a value: see --help");
  return m_argv[++m_position];
}

std::vector<std::string> Arguments::values() {
  std::vector<std::string> result;
  std::istringstream list(value());
  for (std::string item; std::getline(list, item, ',');) result.push_back(item);
  return result;
}

int Arguments::count() { return positive<int>(m_option, value()); }

std::size_t Arguments::size() { return parse_size(m_option, value()); }

std::vector<std::size_t> Arguments::sizes() {
  std::vector<std::string> const items = values();
  std::vector<std::size_t> result;
  if (items == std::vector<std::string>{"none"}) return result;
  for (std::string const& item : items) result.push_back(parse_size(m_option, item));
  return result;
}

void Arguments::refuse() const { throw UsageError("unknown option " + m_option + ": see --help"); }

}  // namespace KokkosHostSpaces::Perf
