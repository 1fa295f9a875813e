// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/tuning/LinkRates.hpp>

#include "../../../backend/os/CacheFile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

// A new version when the meaning of an entry changes: the rates of older files are measured again.
constexpr char const* first_line = "Kokkos Host Spaces calibration 1";

using Value = double LinkRates::*;
using Name  = std::string KnownLink::*;

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

constexpr std::size_t words                        = 3;
constexpr std::array<Name, words> names            = {&KnownLink::machine, &KnownLink::gpu,
                                                      &KnownLink::driver};
constexpr std::array<char const*, words> name_keys = {"machine", "gpu", "driver"};

// A value of a file is one line.
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

// Returns the names of a GPU as a file has them.
KnownLink as_in_file(KnownLink link) {
  for (auto const name : names) link.*name = one_line(link.*name);
  return link;
}

// Reads names and rates in the order in which they are written, and ignores further lines.
bool read_link(std::vector<std::string> const& lines, KnownLink& link) {
  if (lines.size() < words + entries.size()) return false;
  auto line = lines.begin();
  std::string value;
  for (std::size_t i = 0; i < words; ++i)
    if (!starts_with_key(*line++, name_keys[i], link.*names[i])) return false;
  for (Entry const& entry : entries)
    if (!starts_with_key(*line++, entry.name, value) ||
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
    return value > slowest && value < fastest;  // false for NaN
  });
}

std::string write_link_rates(std::vector<KnownLink> const& links) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(6);
  out << first_line << '\n';
  for (KnownLink const& link : links) {
    out << '\n';
    for (std::size_t i = 0; i < words; ++i)
      out << name_keys[i] << ' ' << one_line(link.*names[i]) << '\n';
    for (Entry const& entry : entries) out << entry.name << ' ' << link.rates.*entry.value << '\n';
  }
  return out.str();
}

// Empty lines separate entries. The last line is skipped without its end: it may be cut.
std::vector<KnownLink> read_link_rates(std::string const& text) {
  std::istringstream in(text);
  std::vector<KnownLink> links;
  std::string line;
  if (!std::getline(in, line) || line != first_line) return links;
  std::vector<std::string> entry;
  auto const end_entry = [&] {
    KnownLink link;
    if (read_link(entry, link)) links.push_back(std::move(link));
    entry.clear();
  };
  while (std::getline(in, line) && !in.eof())
    if (line.empty())
      end_entry();
    else
      entry.push_back(line);
  end_entry();
  return links;
}

std::optional<KnownLink> find_link_rates(std::string const& file, KnownLink const& wanted) {
  auto const text = file.empty() ? std::nullopt : Backend::read_cache_file(file);
  if (!text) return std::nullopt;
  KnownLink const name = as_in_file(wanted);
  for (KnownLink& link : read_link_rates(*text))
    if (link.same_gpu(name) && link.driver == name.driver) return std::move(link);
  return std::nullopt;
}

// Reads the file again: other processes may have written meanwhile.
std::string keep_link_rates(std::string const& file, KnownLink const& fresh) {
  KnownLink const added = as_in_file(fresh);
  auto links            = read_link_rates(Backend::read_cache_file(file).value_or(""));
  std::erase_if(links, [&](KnownLink const& link) { return link.same_gpu(added); });
  links.push_back(added);
  return Backend::replace_cache_file(file, write_link_rates(links));
}

void LinkRatesCache::keep(KnownLink const& fresh) {
  if (m_file.empty()) return;
  std::string const problem = keep_link_rates(m_file, fresh);
  if (problem.empty() || std::exchange(m_told, true)) return;
  m_machine.tell("measured link rates cannot be kept in " + m_file + " (" + problem +
                 "): set KOKKOS_HOST_SPACES_CALIBRATION to a file that can be written, or to off; "
                 "until then each process measures them for half a second");
}

LinkRates LinkRatesCache::rates(int device) {
  std::lock_guard const lock(m_mutex);
  if (auto const found = m_rates.find(device); found != m_rates.end()) return found->second;
  if (m_attempts[device] == most_attempts) return {};
  KnownLink link = m_machine.name(device);
  std::optional<LinkRates> measured;
  if (auto const kept = find_link_rates(m_file, link)) {
    measured = kept->rates;
  } else {
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
