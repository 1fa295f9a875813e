// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Replays.hpp"

#include "pool/Pool.hpp"

#include <memory>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

thread_local RetainedMemory* scoped_memory = nullptr;

}  // namespace

RetainedMemory::~RetainedMemory() {
  for (void* const kept : m_kept) Pool::let_go(kept);
}

void RetainedMemory::add(void const* pointer) {
  m_kept.reserve(m_kept.size() + 1);  // push_back must not throw after keep
  if (void* const kept = Pool::keep(pointer)) m_kept.push_back(kept);
}

ScopedRetention::ScopedRetention(RetainedMemory& memory) noexcept
    : m_before(std::exchange(scoped_memory, &memory)) {}

ScopedRetention::~ScopedRetention() { scoped_memory = m_before; }

void retain_for_graph(Driver::Stream stream, void const* a, void const* b) {
  if (!Driver::captures(stream)) return;
  std::unique_ptr<RetainedMemory> of_graph;
  if (scoped_memory == nullptr) of_graph = std::make_unique<RetainedMemory>();
  RetainedMemory& memory = of_graph != nullptr ? *of_graph : *scoped_memory;
  memory.add(a);
  memory.add(b);
  if (of_graph == nullptr || of_graph->empty()) return;
  Driver::retain_in_capture(stream, of_graph.release(),
                            [](void* given) { delete static_cast<RetainedMemory*>(given); });
}

}  // namespace KokkosHostSpaces::Impl::Backend
