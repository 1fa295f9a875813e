// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// From what costs little to what costs much: what lies ready; what is ready if only the devices are
// asked; what lies ready elsewhere; new memory; a shortage.

#include "../Config.hpp"
#include "../Error.hpp"
#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "SlowPath.hpp"
#include "Pool.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

// What is ready if only the devices are asked, in the heap that was entered. nullptr if only growth
// can help.
void* take_asking(SlowPath const& attempt, Epoch epoch) {
  auto const progress = attempt.pools.retirement.reach(epoch);
  if (void* const memory = attempt.take(attempt.heap, Heap::Effort::carve)) return memory;
  // Without events, waiting for the device is the only way to know; it is done when growth is the
  // alternative.
  if (progress != Retirement::Progress::blind || !attempt.pools.retirement.fence()) return nullptr;
  return attempt.take(attempt.heap, Heap::Effort::carve);
}

// The pool would hold much more than was ever needed at once: takes from any heap and breaks up any
// block, else gives back what is too small. That waits for what the devices do, so as much is
// exchanged that it need not be done again for every request that is a little larger than the last;
// and what got ready meanwhile is neither given back nor taken if more can be locked, or each round
// of a steady pattern might wait.
void* take_hoarded(SlowPath const& attempt, std::size_t& growth) {
  Pools& pools             = attempt.pools;
  std::size_t const wanted = attempt.request.bytes;
  bool const idle = pools.retirement.reach(pools.retirement.stamp()) == Retirement::Progress::done;
  auto const excess_if_more = [&](std::size_t bytes) {
    return pools.hoarded(attempt.heap, bytes, wanted, Pools::Unasked::is_needed);
  };
  if (void* const memory = attempt.take_anywhere()) return memory;
  pools.settle();
  if (excess_if_more(growth) == 0 || !pools.can_release({1, false})) return nullptr;
  constexpr std::chrono::seconds patience(1);  // what lasts longer may wait for this very thread
  if (!pools.retirement.wait_if_it_ends(patience)) return nullptr;

  std::size_t const roomy  = std::max(growth, Heap::least_growth(wanted + wanted / 8));
  std::size_t const excess = excess_if_more(roomy);
  Surplus surplus{excess, false};
  if (!idle) {
    surplus.bytes += pools.most_needed() / 8;
    surplus.below = wanted;
  }
  if (pools.release_ready(surplus) < excess) return attempt.take_anywhere();
  growth = roomy;
  return nullptr;
}

// Locks memory for more requests than this one, unless another thread did so meanwhile.
void* take_grown_in_turn(SlowPath const& attempt, std::size_t growth) {
  std::lock_guard const growing(attempt.heap.growing);
  if (attempt.heap.locked_bytes() > attempt.locked_before) {
    if (void* const memory = attempt.take(attempt.heap, Heap::Effort::carve)) return memory;
  }
  SlowPath::Refusal refusal;
  return attempt.take_grown(growth, refusal);
}

void* take_growing(SlowPath const& attempt, Pools::Unasked unasked) {
  Heap& heap              = attempt.heap;
  std::size_t const least = Heap::least_growth(attempt.request.bytes);
  std::size_t growth      = config().pool ? heap.good_growth(attempt.request.bytes) : least;
  if (!attempt.why_impossible(least).empty()) {
    attempt.pools.let_go();
    if (std::string const why = attempt.why_impossible(least); !why.empty()) attempt.refuse(why);
  }
  if (attempt.pools.hoarded(heap, growth, attempt.request.bytes, unasked) > 0) {
    if (void* const memory = take_hoarded(attempt, growth)) return memory;
  }
  SlowPath::Refusal refusal;
  void* const memory =
      growth > least ? take_grown_in_turn(attempt, growth) : attempt.take_grown(growth, refusal);
  if (memory != nullptr) return memory;
  attempt.pools.let_go();
  return attempt.take_in_shortage(least);
}

// Not beside work that runs: giving back would wait for it, and it may wait for this very thread.
void give_back_uncached(Pools& pools) {
  using Progress      = Retirement::Progress;
  auto const progress = pools.retirement.reach(pools.retirement.stamp());
  if (progress != Progress::pending && progress != Progress::busy) pool::trim(0);
}

// What begins with the page of an address, and in a slab the slice around it.
struct Found {
  Block* block       = nullptr;
  BlockHeader* piece = nullptr;
  char* begin        = nullptr;
};

Found find(void const* pointer) noexcept {
  Pools* const pools = Pools::existing();
  Block* const block = pools != nullptr ? pools->pages.find(pointer) : nullptr;
  if (block == nullptr) return {};
  if (block->state.load(std::memory_order_acquire) != BlockState::sliced)
    return {block, block, block->address};
  SlabSlot* const slice = block->slab->slice_at(pointer);
  return {block, slice, slice != nullptr ? block->slab->address_of(*slice) : nullptr};
}

}  // namespace

void* Pool::allocate(Request const& request) {
  if (request.bytes == 0) return nullptr;
  if (is_forked_child()) {
    throw Error("'" + std::string(request.label) + "' cannot be allocated in " + request.space +
                " (this process is the child of a fork, where CUDA does not work): allocate before "
                "the fork, or exec a new program");
  }
  Pools& pools = Pools::instance();
  if (!config().pool) give_back_uncached(pools);
  NodePool& pool = pools.of(request.kind, request.numa_node);
  if (request.bytes > most_memory())
    SlowPath{pools, pool, pool.common(), request}.refuse(
        "that is more than this machine can have, or its control groups allow");
  auto entered = pool.enter(request.bytes);
  Heap& heap   = entered.heap;
  // Large memory asks first: when nothing is ready any more, more work may have been submitted that
  // cannot be told from what is over.
  Epoch epoch = request.bytes >= Heap::own_segment ? heap.unknown() : 0;
  if (epoch == 0) {
    if (void* const memory = heap.take(request, Heap::Effort::reuse)) return memory;
    epoch = heap.awaited(request.bytes);
  }
  bool const ask =
      epoch != 0 && (pools.retirement.is_cheap() || !heap.asks_too_often(request.bytes));
  entered.lock.unlock();
  SlowPath const attempt{pools, pool, heap, request};
  void* memory = ask ? take_asking(attempt, epoch) : attempt.take(heap, Heap::Effort::carve);
  if (memory == nullptr && &heap != &pool.common() && pool.common().reserved_bytes() > 0)
    memory = attempt.take(pool.common(), Heap::Effort::carve);
  // Where asking brings little, what is retired counts as needed: more memory is the better answer.
  return memory != nullptr ? memory
                           : take_growing(attempt, epoch != 0 && !ask ? Pools::Unasked::is_needed
                                                                      : Pools::Unasked::is_ready);
}

// No driver is called, no lock is taken (but for memory that is kept) and the system is not asked.
void Pool::deallocate(void* pointer) noexcept {
  if (pointer == nullptr || is_forked_child()) return;
  Found const found = find(pointer);
  if (found.piece != nullptr && found.begin == pointer &&
      (found.block->segment->heap->give_back(*found.piece) ||
       Pools::existing()->keeps.give_back(*found.piece)))
    return;
  std::fprintf(stderr,
               "KokkosHostSpaces: %p is not given back (the pool did not hand it out, or has it "
               "back already): look for a double free\n",
               pointer);
}

std::size_t Pool::dirty_bytes(void const* pointer) noexcept {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  Found const found         = find(pointer);
  if (found.piece == nullptr) return all;
  std::size_t dirty = 0;
  if (found.piece->is_slice)
    dirty = std::exchange(found.piece->is_zero, false) ? 0 : all;
  else
    dirty = std::exchange(found.block->dirty, all);
  auto const before = static_cast<std::size_t>(static_cast<char const*>(pointer) - found.begin);
  return dirty > before ? dirty - before : 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend
