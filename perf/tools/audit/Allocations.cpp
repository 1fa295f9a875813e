// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Allocations.hpp"

#include "Pair.hpp"

#include <algorithm>
#include <functional>

namespace KokkosHostSpaces::Audit {
namespace {

constexpr std::uint64_t often     = 10;        // as in a run of a few steps
constexpr std::uint64_t by_malloc = 64 << 10;  // malloc keeps smaller blocks itself

bool is_spared_by_a_pool(Allocations::Remade const& view) {
  if (view.freed < often) return false;
  return memory_of(view.space) == Memory::page_locked || view.bytes / view.made >= by_malloc;
}

}  // namespace

void Allocations::allocated(std::string_view space, char const* label, std::uint64_t bytes) {
  Memory const memory = memory_of(space);
  if (!is_host(memory)) return;
  std::lock_guard const lock(m_mutex);
  if (memory == Memory::page_locked)
    m_most_page_locked = std::max(m_most_page_locked, m_page_locked += bytes);
  if (facts_of(space).has_pool) return;
  std::pair key(std::string(cut(label)), std::string(space));
  auto found = m_by_label.find(key);
  if (found == m_by_label.end()) {
    if (m_by_label.size() >= most_labels) return;
    found = m_by_label.emplace(key, Remade{key.first, key.second}).first;
  }
  ++found->second.made;
  found->second.bytes += bytes;
}

void Allocations::freed(std::string_view space, char const* label, std::uint64_t bytes) {
  Memory const memory = memory_of(space);
  if (!is_host(memory)) return;
  std::lock_guard const lock(m_mutex);
  if (memory == Memory::page_locked) m_page_locked -= std::min(m_page_locked, bytes);
  auto const found = m_by_label.find({std::string(cut(label)), std::string(space)});
  if (found != m_by_label.end()) ++found->second.freed;
}

Allocations::Result Allocations::result() const {
  std::lock_guard const lock(m_mutex);
  Result result;
  result.most_page_locked = m_most_page_locked;
  for (auto const& [key, view] : m_by_label)
    if (is_spared_by_a_pool(view)) result.remade.push_back(view);
  std::ranges::stable_sort(result.remade, std::greater(), &Remade::bytes);
  return result;
}

void Allocations::clear() {
  std::lock_guard const lock(m_mutex);
  m_by_label.clear();
  m_most_page_locked = m_page_locked;
}

}  // namespace KokkosHostSpaces::Audit
