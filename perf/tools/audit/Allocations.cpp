// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Allocations.hpp"

#include "../../support/Format.hpp"
#include "Text.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

namespace KokkosHostSpaces::Audit {
namespace {

constexpr std::uint64_t often     = 10;        // as in a run of a few steps
constexpr std::uint64_t by_malloc = 64 << 10;  // malloc keeps smaller blocks itself

bool is_spared_by_a_pool(Allocations::Remade const& view) {
  if (view.freed < often || facts_of(view.space).has_pool) return false;
  return memory_of(view.space) == Memory::page_locked || view.bytes / view.made >= by_malloc;
}

// Bytes and some words of 1 MiB or more, if they differ. Kokkos keeps its own data at the beginning.
std::string contents_of(void const* memory, std::uint64_t bytes) {
  constexpr std::uint64_t least = 1 << 20, words = 61;  // a prime, so that they lie in all columns
  std::uint64_t first = 0, varies = 0, sample = bytes, word = 0;
  for (std::uint64_t i = 1; bytes >= least && i != words; ++i) {
    std::memcpy(&word, static_cast<char const*>(memory) + bytes / words / 8 * 8 * i, sizeof word);
    if (i == 1) first = word;
    varies |= word ^ first;
    sample = std::rotl(sample ^ word, 29) * 0x9e3779b97f4a7c15u;
  }
  if (varies == 0) return "";
  return Perf::size_name(bytes) + Perf::format(", contents like %016lx", sample);
}

}  // namespace

void Allocations::allocated(std::string_view space, char const* label, std::uint64_t bytes) {
  Memory const memory = memory_of(space);
  if (!is_host(memory)) return;
  std::lock_guard const lock(m_mutex);
  if (memory == Memory::page_locked)
    m_most_page_locked = std::max(m_most_page_locked, m_page_locked += bytes);
  std::pair key(std::string(cut(label)), std::string(space));
  auto found = m_by_label.find(key);
  if (found == m_by_label.end()) {
    if (m_by_label.size() >= most_labels) return;
    found = m_by_label.emplace(key, Remade{key.first, key.second}).first;
  }
  ++found->second.made;
  found->second.bytes += bytes;
}

void Allocations::freed(std::string_view space, char const* label, void const* memory,
                        std::uint64_t bytes) {
  Memory const kind = memory_of(space);
  if (!is_host(kind)) return;
  std::string contents = contents_of(memory, bytes);
  std::lock_guard const lock(m_mutex);
  if (kind == Memory::page_locked) m_page_locked -= std::min(m_page_locked, bytes);
  auto const found = m_by_label.find({std::string(cut(label)), std::string(space)});
  if (found == m_by_label.end()) return;
  ++found->second.freed;
  found->second.contents = std::move(contents);
}

Allocations::Result Allocations::result() const {
  std::lock_guard const lock(m_mutex);
  Result result;
  result.most_page_locked = m_most_page_locked;
  for (auto const& [key, view] : m_by_label) {
    if (is_spared_by_a_pool(view)) result.remade.push_back(view);
    if (!view.contents.empty() && !view.label.empty())
      result.tables.insert(quoted(view.label) + " (" + shown(view.space) + "), " + view.contents);
  }
  std::ranges::stable_sort(result.remade, std::greater(), &Remade::bytes);
  return result;
}

void Allocations::clear() {
  std::lock_guard const lock(m_mutex);
  m_by_label.clear();
  m_most_page_locked = m_page_locked;
}

}  // namespace KokkosHostSpaces::Audit
