// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// From what costs little to what costs much: what lies ready; what is ready if only the devices are
// asked; what lies ready elsewhere; new memory; a shortage.

#include "../Config.hpp"
#include "../Error.hpp"
#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "Attempt.hpp"
#include "Pool.hpp"

#include <cstdio>
#include <string>

namespace KokkosHostSpaces::Impl {

namespace {

// What is ready if only the devices are asked, in the heap that was entered. nullptr if only growth
// can help.
void* take_asking(Attempt const& attempt, Epoch epoch) {
  auto const progress = attempt.pools.retirement.reach(epoch);
  if (void* const memory = attempt.take(attempt.heap, Heap::Effort::carve)) return memory;
  // Without events, waiting for the device is the only way to know; it is done when growth is the
  // alternative.
  if (progress != Retirement::Progress::blind || !attempt.pools.retirement.fence()) return nullptr;
  return attempt.take(attempt.heap, Heap::Effort::carve);
}

// The pool holds much more than was ever needed at once: takes from any heap and breaks up any
// block, else gives back what would be too much. If a device works, that would wait, so it is left.
void* take_hoarded(Attempt const& attempt, std::size_t growth) {
  Pools& pools        = attempt.pools;
  auto const progress = pools.retirement.reach(pools.retirement.stamp());
  if (void* const memory = attempt.take_anywhere()) return memory;
  if (progress == Retirement::Progress::done)
    pools.release_ready(pools.hoarded(attempt.heap, growth, attempt.request.bytes),
                        Pools::Reserved::keep);
  return nullptr;
}

void* take_growing(Attempt const& attempt, bool caching) {
  Heap const& heap        = attempt.heap;
  std::size_t const least = Heap::least_growth(attempt.request.bytes);
  std::size_t const good  = caching ? heap.good_growth(attempt.request.bytes) : least;
  if (std::string const why = attempt.why_impossible(least); !why.empty()) attempt.refuse(why);
  if (attempt.pools.hoarded(heap, good, attempt.request.bytes) > 0) {
    if (void* const memory = take_hoarded(attempt, good)) return memory;
  }
  Attempt::Refusal refusal;
  if (void* const memory = attempt.take_grown(good, refusal)) return memory;
  return attempt.take_in_shortage(least);
}

}  // namespace

void* Pool::allocate(Request const& request) {
  if (request.bytes == 0) return nullptr;
  if (is_forked_child()) {
    throw Error("'" + std::string(request.label) + "' cannot be allocated in " + request.space +
                " (this process is the child of a fork, where CUDA does not work): allocate before "
                "the fork, or exec a new program");
  }
  Pools& pools       = Pools::instance();
  bool const caching = config().pool;
  if (!caching) pool::trim(0);
  NodePool& pool = pools.of(request.kind, request.numa_node);
  if (request.bytes > most_memory())
    Attempt{pools, pool, pool.common(), request}.refuse(
        "that is more than this machine can have, or its control groups allow");
  auto entered = pool.enter(request.bytes);
  Heap& heap   = entered.heap;
  if (void* const memory = heap.take(request, Heap::Effort::reuse)) return memory;

  Epoch const epoch = heap.awaited(request.bytes);
  bool const ask =
      epoch != 0 && (pools.retirement.is_cheap() || !heap.asks_too_often(request.bytes));
  entered.lock.unlock();
  Attempt const attempt{pools, pool, heap, request};
  void* memory = ask ? take_asking(attempt, epoch) : attempt.take(heap, Heap::Effort::carve);
  if (memory == nullptr && &heap != &pool.common() && pool.common().reserved_bytes() > 0)
    memory = attempt.take(pool.common(), Heap::Effort::carve);
  return memory != nullptr ? memory : take_growing(attempt, caching);
}

// No driver is called, no lock is taken and the system is not asked.
void Pool::deallocate(void* pointer) noexcept {
  if (pointer == nullptr || is_forked_child()) return;
  Pools* const pools = Pools::existing();
  Block* const block = pools != nullptr ? pools->pages.find(pointer) : nullptr;
  Piece* piece       = block;
  bool begins_here   = block != nullptr && block->address == pointer;
  if (block != nullptr && block->state.load(std::memory_order_acquire) == BlockState::sliced) {
    Slab& slab         = *block->slab;
    Slice* const slice = slab.slice_at(pointer);
    piece              = slice;
    begins_here        = slice != nullptr && slab.address_of(*slice) == pointer;
  }
  if (begins_here && block->segment->heap->give_back(*piece)) return;
  std::fprintf(stderr,
               "KokkosHostSpaces: %p is not given back (the pool did not hand it out, or has it "
               "back already): look for a double free\n",
               pointer);
}

}  // namespace KokkosHostSpaces::Impl
