// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "RetainTable.hpp"

#include "../os/Fork.hpp"
#include "Heap.hpp"
#include "Pool.hpp"
#include "Pools.hpp"

namespace KokkosHostSpaces::Impl::Backend {

namespace {

Heap& heap_of(BlockHeader& piece) noexcept {
  Block const& block =
      piece.is_slice ? *static_cast<SlabSlot&>(piece).slab->span : static_cast<Block&>(piece);
  return *block.segment->heap;
}

// The first page of a block and all pages of a slab lead to it; within a large block its heap knows.
Block* block_at(Pools& pools, void const* pointer) {
  if (Block* const block = pools.pages.find(pointer)) return block;
  Block* found = nullptr;
  pools.for_each_heap([&](Heap& heap) {
    if (found != nullptr || heap.locked_bytes() == 0) return;
    std::lock_guard const lock(heap.mutex);
    found = heap.block_at(pointer);
  });
  return found;
}

BlockHeader* piece_at(Pools& pools, void const* pointer) {
  Block* const block = block_at(pools, pointer);
  bool const sliced =
      block != nullptr && block->state.load(std::memory_order_acquire) == BlockState::sliced;
  return sliced ? block->slab->slice_at(pointer) : static_cast<BlockHeader*>(block);
}

}  // namespace

bool RetainTable::keep(BlockHeader& piece) {
  std::lock_guard const lock(m_mutex);
  Kept& kept = m_kept[&piece];
  auto state = BlockState::in_use;
  if (kept.count == 0 && !piece.state.compare_exchange_strong(state, BlockState::kept)) {
    m_kept.erase(&piece);
    return false;
  }
  ++kept.count;
  return true;
}

void RetainTable::let_go(BlockHeader& piece) noexcept {
  std::lock_guard const lock(m_mutex);
  auto const found = m_kept.find(&piece);
  if (--found->second.count > 0) return;
  bool const given_back = found->second.given_back;
  m_kept.erase(found);
  piece.state.store(BlockState::in_use, std::memory_order_release);
  if (given_back) heap_of(piece).give_back(piece);
}

bool RetainTable::give_back(BlockHeader& piece) noexcept {
  std::lock_guard const lock(m_mutex);
  auto const found = m_kept.find(&piece);
  // It may have been let go since its heap refused it.
  if (found == m_kept.end()) return heap_of(piece).give_back(piece);
  bool const first         = !found->second.given_back;
  found->second.given_back = true;
  return first;
}

void* Pool::keep(void const* pointer) {
  Pools* const pools       = is_forked_child() ? nullptr : Pools::existing();
  BlockHeader* const piece = pools != nullptr ? piece_at(*pools, pointer) : nullptr;
  return piece != nullptr && pools->keeps.keep(*piece) ? piece : nullptr;
}

void Pool::let_go(void* kept) noexcept {
  if (!is_forked_child()) Pools::existing()->keeps.let_go(*static_cast<BlockHeader*>(kept));
}

}  // namespace KokkosHostSpaces::Impl::Backend
