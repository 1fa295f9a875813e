// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "NodePool.hpp"

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr std::size_t heaps_apart = 16;  // beside the one that all share

// Which heap a thread takes, and for how many allocations still if it is not the common one.
struct Seat {
  Seat() {
    static std::atomic<std::size_t> threads{0};
    heap = 1 + threads.fetch_add(1, std::memory_order_relaxed) % heaps_apart;
  }
  std::size_t heap;
  std::size_t stays = 0;
};

thread_local Seat seat;

}  // namespace

NodePool::NodePool(MemoryKind kind_of_memory, int node, Retirement& retirement, PageMap& pages,
                   Meter& total)
    : kind(kind_of_memory), numa_node(node) {
  using Tells = HeapMeter::Tells;
  for (std::size_t i = 0; i <= heaps_apart; ++i)
    heaps.emplace_back(
        Heap::Shared{retirement, pages, meter, total, i == 0 ? Tells::when_asked : Tells::soon});
}

NodePool::Entered NodePool::enter(std::size_t bytes) {
  constexpr std::size_t largest_apart = std::size_t(1) << 20;  // large blocks are for every thread
  constexpr std::size_t stay          = 4096;                  // allocations; then it may be calmer
  if (bytes > largest_apart) return {common(), std::unique_lock(common().mutex)};
  if (seat.stays == 0) {
    std::unique_lock lock(common().mutex, std::try_to_lock);
    if (lock.owns_lock()) return {common(), std::move(lock)};
    seat.stays = stay;
  }
  --seat.stays;
  Heap& mine = heaps[seat.heap];
  return {mine, std::unique_lock(mine.mutex)};
}

void NodePool::prefer(Heap const& heap) noexcept {
  for (std::size_t i = 1; i < heaps.size(); ++i) {
    if (&heaps[i] == &heap) seat.heap = i;
  }
  if (&heap == &common()) seat.stays = 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend
