// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/Calibration.hpp>

#include "../../backend/os/CacheFile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

// Another version when an entry's meaning changes: older files are then measured anew.
constexpr char const* first_line = "Kokkos Host Spaces calibration 1";

using Value = double LinkRates::*;
using Name  = std::string CalibratedLink::*;

struct Entry {
  char const* name;
  Value value;
};
constexpr std::array entries = {Entry{"to_device", &LinkRates::to_device},
                                Entry{"to_host", &LinkRates::to_host},
                                Entry{"both", &LinkRates::both},
                                Entry{"two_to_one", &LinkRates::two_to_one},
                                Entry{"zero_copy_read", &LinkRates::zero_copy_read},
                                Entry{"zero_copy_write", &LinkRates::zero_copy_write},
                                Entry{"zero_copy_two_to_one", &LinkRates::zero_copy_two_to_one},
                                Entry{"device_memory", &LinkRates::device_memory},
                                Entry{"operation_seconds", &LinkRates::operation_seconds}};

constexpr std::size_t words             = 3;
constexpr std::array<Name, words> names = {&CalibratedLink::machine, &CalibratedLink::gpu,
                                           &CalibratedLink::driver};
constexpr std::array<char const*, words> name_keys = {"machine", "gpu", "driver"};

// A value ends with its line.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

// "key value": false if the line has another key.
bool starts_with_key(std::string const& line, char const* key, std::string& value) {
  std::string const start = std::string(key) + " ";
  if (!line.starts_with(start)) return false;
  value = line.substr(start.size());
  return true;
}

bool read_number(std::string const& text, double& number) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  return in >> number && in.eof();
}

// All lines of an entry, in the order in which they are written.
bool read_link(std::istream& in, CalibratedLink& link) {
  std::string line, value;
  for (std::size_t i = 0; i < words; ++i)
    if (!std::getline(in, line) || !starts_with_key(line, name_keys[i], link.*names[i]))
      return false;
  for (Entry const& entry : entries)
    if (!std::getline(in, line) || !starts_with_key(line, entry.name, value) ||
        !read_number(value, link.rates.*entry.value))
      return false;
  link.rates.measured = true;
  return link.rates.make_sense();
}

}  // namespace

bool LinkRates::make_sense() const {
  constexpr double slowest = 1e6, fastest = 1e15;
  return std::ranges::all_of(entries, [this](Entry const& entry) {
    double const value = this->*entry.value;
    if (entry.value == &LinkRates::operation_seconds) return value > 0 && value < 1;
    return value > slowest && value < fastest;  // false if it is no number
  });
}

std::string write_calibration(std::vector<CalibratedLink> const& links) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(6);
  out << first_line << '\n';
  for (CalibratedLink const& link : links) {
    out << '\n';
    for (std::size_t i = 0; i < words; ++i)
      out << name_keys[i] << ' ' << one_line(link.*names[i]) << '\n';
    for (Entry const& entry : entries) out << entry.name << ' ' << link.rates.*entry.value << '\n';
  }
  return out.str();
}

std::vector<CalibratedLink> read_calibration(std::string const& text) {
  std::istringstream in(text);
  std::vector<CalibratedLink> links;
  std::string line;
  if (!std::getline(in, line) || line != first_line) return links;
  while (std::getline(in, line)) {
    if (!line.empty()) continue;  // the rest of an entry that is broken
    CalibratedLink link;
    if (read_link(in, link)) links.push_back(std::move(link));
  }
  return links;
}

std::optional<LinkRates> Calibration::kept(CalibratedLink const& wanted) const {
  if (m_file.empty()) return std::nullopt;
  auto const text = read_cache_file(m_file);
  if (!text) return std::nullopt;
  for (CalibratedLink const& link : read_calibration(*text))
    if (link.same_gpu(wanted) && link.driver == wanted.driver) return link.rates;
  return std::nullopt;
}

// What others have written since we looked stays; of the same GPU nothing with another driver.
void Calibration::keep(CalibratedLink const& fresh) {
  if (m_file.empty()) return;
  auto links = read_calibration(read_cache_file(m_file).value_or(""));
  std::erase_if(links, [&](CalibratedLink const& link) { return link.same_gpu(fresh); });
  links.push_back(fresh);
  std::string const problem = replace_cache_file(m_file, write_calibration(links));
  if (problem.empty() || std::exchange(m_told, true)) return;
  m_machine.tell("measured link rates cannot be kept in " + m_file + " (" + problem +
                 "): set KOKKOS_HOST_SPACES_CALIBRATION to a file that can be written, or to off; "
                 "until then each process measures them for half a second");
}

LinkRates Calibration::rates(int device) {
  std::lock_guard const lock(m_mutex);
  if (auto const found = m_rates.find(device); found != m_rates.end()) return found->second;
  if (m_attempts[device] == most_attempts) return {};
  CalibratedLink link = m_machine.name(device);
  for (auto const name : names) link.*name = one_line(link.*name);
  auto measured = kept(link);
  if (!measured) {
    ++m_attempts[device];
    measured = m_machine.measure(device);
    if (!measured || !measured->make_sense()) return {};
    measured->measured = true;
    link.rates         = *measured;
    keep(link);
  }
  return m_rates[device] = *measured;
}

}  // namespace KokkosHostSpaces::Impl
