// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Pool.hpp"

#include "Config.hpp"
#include "Error.hpp"
#include "os/Fork.hpp"
#include "os/Pages.hpp"
#include "pool/Pools.hpp"

#include <cstdio>
#include <limits>
#include <string>

namespace KokkosHostSpaces::Impl::Pool {

namespace {

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

[[noreturn]] void refuse(Request const& request, std::string const& why) {
  Statistics const now = statistics();
  auto const bytes     = [](std::size_t count) { return std::to_string(count) + " bytes"; };
  throw OutOfPinnedMemory(
      "'" + std::string(request.label) + "' in the space " + request.space + " cannot have " +
      bytes(request.bytes) + " (" + why + "; in use " + bytes(now.total.bytes_in_use) +
      ", cached " + bytes(now.total.bytes_cached) + ", retired " + bytes(now.total.bytes_retired) +
      ", limit of the pool " + (now.limit == 0 ? "none" : bytes(now.limit)) + ", RLIMIT_MEMLOCK " +
      locked_memory_limit() +
      "): destroy what is not needed, ask for less, or raise KOKKOS_HOST_SPACES_POOL_LIMIT, the "
      "memory limit "
      "of the job or ulimit -l");
}

// Takes from what the pool has: what is ready, then what is if only the device is asked. nullptr if
// only growth can help.
void* take_warm(Pools& pools, NodePool::Entered& entered, Request const& request) {
  auto& [heap, lock] = entered;
  if (void* const memory = heap.take(request, Heap::Effort::reuse)) return memory;

  auto progress     = Retirement::Progress::done;
  Epoch const epoch = heap.awaited(request.bytes);
  if (epoch != 0) {
    lock.unlock();
    progress = pools.retirement.reach(epoch);
    lock.lock();
  }
  if (void* const memory = heap.take(request, Heap::Effort::carve)) return memory;

  // Without events, waiting for the device is the only way to know; it is done when growth is the
  // alternative.
  if (progress == Retirement::Progress::blind && heap.awaited(request.bytes) != 0) {
    lock.unlock();
    pools.retirement.fence();
    lock.lock();
    return heap.take(request, Heap::Effort::carve);
  }
  return nullptr;
}

// Takes from `bytes` of new memory; nullptr, and why, if the limit or the system refuses.
void* take_grown(Pools& pools, NodePool& pool, Heap& heap, Request const& request,
                 std::size_t bytes, std::string& why) {
  try {
    auto const lock = pools.grow(pool, heap, bytes, false);
    return heap.take(request, Heap::Effort::break_up);
  } catch (OutOfPinnedMemory const& refusal) {
    why = refusal.what();
    return nullptr;
  }
}

// Whatever any heap of the pool has ready.
void* take_anywhere(NodePool& pool, Request const& request) {
  for (Heap& heap : pool.heaps) {
    std::lock_guard const lock(heap.mutex);
    if (void* const memory = heap.take(request, Heap::Effort::break_up)) return memory;
  }
  return nullptr;
}

// The limit or the system refuses more: give ready memory back, then wait for what is retired.
void* take_in_shortage(Pools& pools, NodePool& pool, Heap& heap, Request const& request,
                       std::string why) {
  std::size_t const least = heap.least_growth(request.bytes);
  for (bool const wait : {false, true}) {
    Epoch const now = pools.retirement.stamp();
    if (wait && (statistics().total.bytes_retired == 0 || !pools.retirement.wait(now))) break;
    if (!wait) pools.retirement.reach(now);
    if (void* const memory = take_anywhere(pool, request)) return memory;
    std::size_t const excess = pools.ledger.excess(least);
    pools.release_ready(excess == 0 ? everything : excess);
    if (void* const memory = take_grown(pools, pool, heap, request, least, why)) return memory;
  }
  refuse(request, why);
}

}  // namespace

void* allocate(Request const& request) {
  if (request.bytes == 0) return nullptr;
  if (is_forked_child()) {
    throw Error("'" + std::string(request.label) + "' cannot be allocated in " + request.space +
                " (this process is the child of a fork, where CUDA does not work): allocate before "
                "the fork, "
                "or exec a new program");
  }
  if (request.bytes > everything / 2) refuse(request, "no machine has so much memory");

  Pools& pools       = Pools::instance();
  bool const caching = config().pool;
  if (!caching) trim(0);
  NodePool& pool = pools.of(request.kind, request.numa_node);
  auto entered   = pool.enter(request.bytes);
  if (void* const memory = take_warm(pools, entered, request)) return memory;

  Heap& heap              = entered.heap;
  std::size_t const least = heap.least_growth(request.bytes);
  std::size_t const good  = caching ? heap.good_growth(request.bytes) : least;
  entered.lock.unlock();
  std::string why;
  void* memory = take_grown(pools, pool, heap, request, good, why);
  if (memory == nullptr && least < good)
    memory = take_grown(pools, pool, heap, request, least, why);
  return memory != nullptr ? memory : take_in_shortage(pools, pool, heap, request, why);
}

void deallocate(void* pointer) noexcept {
  if (pointer == nullptr || is_forked_child()) return;
  Pools* const pools = Pools::existing();
  Block* const block = pools != nullptr ? pools->pages.find(pointer) : nullptr;
  bool retired       = false;
  bool record        = false;
  if (block != nullptr) {
    Heap& heap = *block->segment->heap;
    std::lock_guard const lock(heap.mutex);
    retired = heap.retire(*block, pointer, record);
  }
  if (!retired) {
    std::fprintf(stderr,
                 "KokkosHostSpaces: %p is not given back (the pool did not hand it out, or has it "
                 "back already): "
                 "look for a double free\n",
                 pointer);
  }
  if (record) pools->retirement.record();
}

}  // namespace KokkosHostSpaces::Impl::Pool
