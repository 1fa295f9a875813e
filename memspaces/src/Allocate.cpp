// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/Backend.hpp>

#include "../../backend/Placement.hpp"
#include "../../backend/pool/Pool.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>

namespace KokkosHostSpaces::Impl {

namespace {

// Cached memory goes back when Kokkos is finalized. Views that outlive it give theirs back to the
// pool.
void release_at_finalize() {
  static std::atomic<bool> arranged{false};
  if (Kokkos::is_initialized() && !arranged.exchange(true, std::memory_order_relaxed))
    Kokkos::push_finalize_hook([] { Pool::release_all(); });
}

// Which pool, and where: asked of the pool by allocations and reservations alike.
struct Place {
  MemoryKind kind;
  int numa_node;
};

Place place_of(SpaceDescription space, int device_id) {
  return {space.write_combined ? MemoryKind::write_combined : MemoryKind::page_locked,
          node_near_device(device_id >= 0 ? device_id : Kokkos::device_id())};
}

}  // namespace

void* allocate(SpaceDescription space, int device_id, char const* label, std::size_t bytes,
               std::size_t logical_bytes) {
  release_at_finalize();
  Place const place   = place_of(space, device_id);
  void* const pointer = Pool::allocate({.bytes     = bytes,
                                        .kind      = place.kind,
                                        .numa_node = place.numa_node,
                                        .space     = space.name,
                                        .label     = label});
  if (Kokkos::Profiling::profileLibraryLoaded())
    Kokkos::Profiling::allocateData(Kokkos::Profiling::make_space_handle(space.name), label,
                                    pointer, logical_bytes > 0 ? logical_bytes : bytes);
  return pointer;
}

void deallocate(SpaceDescription space, char const* label, void* pointer, std::size_t bytes,
                std::size_t logical_bytes) {
  if (pointer == nullptr) return;
  if (Kokkos::Profiling::profileLibraryLoaded())
    Kokkos::Profiling::deallocateData(Kokkos::Profiling::make_space_handle(space.name), label,
                                      pointer, logical_bytes > 0 ? logical_bytes : bytes);
  Pool::deallocate(pointer);
}

pool::Reservation reserve(SpaceDescription space, int device_id, std::size_t bytes,
                          std::size_t largest_block) {
  Place const place = place_of(space, device_id);
  return Pool::reserve(bytes, place.kind, place.numa_node, largest_block);
}

}  // namespace KokkosHostSpaces::Impl
