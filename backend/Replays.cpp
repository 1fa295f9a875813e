// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Replays.hpp"

#include <iterator>
#include <memory>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

thread_local RetainedMemory* scoped_memory = nullptr;

}  // namespace

RetainedMemory::~RetainedMemory() {
  for (auto const& [begin, kept] : m_kept) Pool::let_go(kept.handle);
}

void RetainedMemory::add(void const* pointer) {
  auto const* const address = static_cast<char const*>(pointer);
  auto const after          = m_kept.upper_bound(address);
  if (after != m_kept.begin() && address < std::prev(after)->second.end) return;
  Pool::Kept const kept = Pool::keep(pointer);
  if (kept.handle == nullptr) return;
  try {
    m_kept.emplace(kept.begin, kept);
  } catch (...) {
    Pool::let_go(kept.handle);
    throw;
  }
}

ScopedRetention::ScopedRetention(RetainedMemory& memory) noexcept
    : m_before(std::exchange(scoped_memory, &memory)) {}

ScopedRetention::~ScopedRetention() { scoped_memory = m_before; }

void retain_for_graph(Driver::Stream stream, std::span<void const* const> addresses) {
  if (!Driver::captures(stream)) return;
  std::unique_ptr<RetainedMemory> of_graph;
  if (scoped_memory == nullptr) of_graph = std::make_unique<RetainedMemory>();
  RetainedMemory& memory = of_graph != nullptr ? *of_graph : *scoped_memory;
  //~ failure 8
  for (void const* const address : addresses) memory.add(address);
  if (of_graph == nullptr || of_graph->blocks() == 0) return;
  Driver::retain_in_capture(stream, of_graph.release(),
                            [](void* given) { delete static_cast<RetainedMemory*>(given); });
}

}  // namespace KokkosHostSpaces::Impl::Backend
