// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Replays.hpp"

#include "pool/Pool.hpp"

#include <memory>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

thread_local ReplayedMemory* owner_of_captures = nullptr;

}  // namespace

ReplayedMemory::~ReplayedMemory() {
  for (void* const kept : m_kept) Pool::let_go(kept);
}

void ReplayedMemory::add(void const* pointer) {
  m_kept.reserve(m_kept.size() + 1);  // so that nothing is kept which is not noted
  if (void* const kept = Pool::keep(pointer)) m_kept.push_back(kept);
}

ReplayedBy::ReplayedBy(ReplayedMemory& memory) noexcept
    : m_before(std::exchange(owner_of_captures, &memory)) {}

ReplayedBy::~ReplayedBy() { owner_of_captures = m_before; }

void retain_for_graph(Driver::Stream stream, void const* a, void const* b) {
  if (!Driver::captures(stream)) return;
  std::unique_ptr<ReplayedMemory> of_graph;
  if (owner_of_captures == nullptr) of_graph = std::make_unique<ReplayedMemory>();
  ReplayedMemory& memory = of_graph != nullptr ? *of_graph : *owner_of_captures;
  memory.add(a);
  memory.add(b);
  if (of_graph == nullptr || of_graph->empty()) return;
  Driver::give_to_capture(stream, of_graph.release(),
                          [](void* given) { delete static_cast<ReplayedMemory*>(given); });
}

}  // namespace KokkosHostSpaces::Impl::Backend
