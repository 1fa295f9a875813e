// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "RetainTable.hpp"

#include "../os/Fork.hpp"
#include "Heap.hpp"
#include "Pool.hpp"
#include "Pools.hpp"

namespace KokkosHostSpaces::Impl::Backend {

namespace {

Heap& heap_of(BlockHeader& header) noexcept { return *block_of(header).segment->heap; }

}  // namespace

bool RetainTable::keep(BlockHeader& header) {
  std::lock_guard const lock(m_mutex);
  Kept& kept = m_kept[&header];
  auto state = BlockState::in_use;
  if (kept.count == 0 && !header.state.compare_exchange_strong(state, BlockState::retained)) {
    m_kept.erase(&header);
    return false;
  }
  //~ unkept graph
  ++kept.count;
  return true;
}

void RetainTable::let_go(BlockHeader& header) noexcept {
  std::lock_guard const lock(m_mutex);
  auto const found = m_kept.find(&header);
  if (--found->second.count > 0) return;
  bool const given_back = found->second.given_back;
  m_kept.erase(found);
  header.state.store(BlockState::in_use, std::memory_order_release);
  //~ double free a
  if (given_back) heap_of(header).give_back(header);
}

bool RetainTable::give_back(BlockHeader& header) noexcept {
  std::lock_guard const lock(m_mutex);
  auto const found = m_kept.find(&header);
  // Since its heap refused it, the last graph may have let it go.
  if (found == m_kept.end()) return heap_of(header).give_back(header);
  bool const first         = !found->second.given_back;
  found->second.given_back = true;
  return first;
}

Pool::Kept Pool::keep(void const* pointer) {
  Piece piece;
  Pools::at(pointer, [&](Heap&, Block& block) { piece = piece_at(block, pointer); });
  if (piece.header == nullptr || !Pools::existing()->retained.keep(*piece.header)) return {};
  return {piece.header, piece.begin, piece.begin + piece.bytes};
}

void Pool::let_go(void* handle) noexcept {
  if (!is_forked_child()) Pools::existing()->retained.let_go(*static_cast<BlockHeader*>(handle));
}

}  // namespace KokkosHostSpaces::Impl::Backend
