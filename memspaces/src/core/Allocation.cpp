// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/Device.hpp>
#include <KokkosHostSpaces/impl/core/LockArrayInit.hpp>

#include "../../../backend/Driver.hpp"
#include "../../../backend/Placement.hpp"
#include "../../../backend/pool/Pool.hpp"
#include "../../../backend/Registry.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

thread_local ScopedRetirement const* retiring = nullptr;

// Ends parts of the library before Kokkos ends. One hook for all: a hook of an application may be the first user of
// something, and Kokkos 5 calls a hook that registers another one twice, and never the other one.
class Endings {
 public:
  // Kokkos::finalize also releases cached memory. Views that live longer return theirs to the pool.
  void register_once() {
    if (Kokkos::is_initialized() && !m_registered.exchange(true, std::memory_order_relaxed))
      Kokkos::push_finalize_hook([this] { end(); });
  }
  void add(std::function<void()> ending) {
    std::lock_guard const lock(m_mutex);
    m_endings.push_back(std::move(ending));
  }

 private:
  // An ending, such as the last writer of snapshots, may be the first user of something else.
  void end() {
    std::unique_lock lock(m_mutex);
    while (!m_endings.empty()) {
      auto const ending = std::move(m_endings.back());
      m_endings.pop_back();
      lock.unlock();
      ending();
      lock.lock();
    }
    Backend::Pool::release_all();
  }

  std::atomic<bool> m_registered{false};
  std::mutex m_mutex;
  std::vector<std::function<void()>> m_endings;
};

Endings& endings() {
  static Endings& all = *new Endings;
  return all;
}

// Throws Kokkos' message of a failure, which programs search for, with the reason and the remedy.
[[noreturn]] void fail(SpaceDescription space, char const* label, std::size_t bytes,
                       OutOfPinnedMemory const& reason) {
  throw OutOfPinnedMemory(std::string(space.name) + " memory space failed to allocate " +
                          std::to_string(bytes) + " bytes (label=\"" + label +
                          "\"): " + reason.what());
}

// The pool and the NUMA node of allocations and reservations.
struct Place {
  MemoryKind kind;
  int numa_node;
};

Place place_of(SpaceDescription space, int device_id) {
  // Containers with an allocator may allocate before Kokkos is initialized, and after its end.
  int const default_device = Kokkos::is_initialized() ? Kokkos::device_id() : -1;
  return {space.kind, Backend::node_near_device(device_id >= 0 ? device_id : default_device)};
}

// Kokkos' own pinned space can be made only while Kokkos is initialized; this one still frees afterwards.
DevicePinnedSpace const& stock_space() {
  static DevicePinnedSpace const& space = *new DevicePinnedSpace;
  return space;
}

// Where a device is not driven, memory comes from Kokkos' own pinned space, which also tells tools. A free
// waits as there.
void* allocate_stock(SpaceDescription space, char const* label, std::size_t bytes,
                     std::size_t logical_bytes) {
  if (bytes == 0) return nullptr;
  if (!Kokkos::is_initialized())
    fail(space, label, bytes,
         OutOfPinnedMemory("Kokkos is not initialized, and allocates for this device: allocate "
                           "between Kokkos::initialize and Kokkos::finalize"));
  try {
    return stock_space().allocate(label, bytes, logical_bytes);
  } catch (std::exception const& error) {
    fail(space, label, bytes,
         OutOfPinnedMemory(std::string("Kokkos cannot have it (") + error.what() +
                           "): ask for less, or free Views"));
  }
}

}  // namespace

void* allocate(SpaceDescription space, int device_id, char const* label, std::size_t bytes,
               std::size_t logical_bytes) {
  if (bytes < logical_bytes)
    fail(space, label, logical_bytes,
         OutOfPinnedMemory("with Kokkos' header the size overflows size_t (check the extents): ask "
                           "for fewer"));
  //~ failure 22a
  endings().register_once();
  if constexpr (has_stock_device) return allocate_stock(space, label, bytes, logical_bytes);
  lock_when_initialized();
  LockArrayInit::prepare_all();
  Place const place = place_of(space, device_id);
  void* pointer     = nullptr;
  try {
    pointer = Backend::Pool::allocate({.bytes     = bytes,
                                       .kind      = place.kind,
                                       .numa_node = place.numa_node,
                                       .space     = space.name,
                                       .label     = label});
  } catch (OutOfPinnedMemory const& reason) {
    fail(space, label, bytes, reason);
  }
  if (pointer != nullptr && Kokkos::Profiling::profileLibraryLoaded()) {
    Kokkos::Profiling::allocateData(Kokkos::Profiling::make_space_handle(space.name), label,
                                    pointer, logical_bytes > 0 ? logical_bytes : bytes);
    // A tool may have written a pattern that shows what is read before it is written.
    if (Kokkos::Tools::Experimental::get_callbacks().allocate_data != nullptr)
      static_cast<void>(Backend::Pool::dirty_bytes(pointer));
  }
  return pointer;
}

void deallocate(SpaceDescription space, char const* label, void* pointer, std::size_t bytes,
                std::size_t logical_bytes) {
  if (pointer == nullptr) return;
  if constexpr (has_stock_device)
    return stock_space().deallocate(label, pointer, bytes, logical_bytes);
  if (Kokkos::Profiling::profileLibraryLoaded())
    Kokkos::Profiling::deallocateData(Kokkos::Profiling::make_space_handle(space.name), label,
                                      pointer, logical_bytes > 0 ? logical_bytes : bytes);
  auto const* const begin = static_cast<char const*>(pointer);
  if (retiring != nullptr && begin <= retiring->data && retiring->data < begin + bytes)
    Backend::Pool::deallocate_on({retiring->stream, retiring->device}, pointer);
  else
    Backend::Pool::deallocate(pointer);
}

ScopedRetirement::ScopedRetirement(void const* of_view, void* of_work, int of_device) noexcept
    : data(of_view), stream(of_work), device(of_device), m_before(std::exchange(retiring, this)) {}

ScopedRetirement::~ScopedRetirement() { retiring = m_before; }

int device_near(void const* memory, int preferred) {
  auto const known = pool::describe(memory);
  int const node   = known ? known->numa_node : -1;
  if (node < 0 || node == Backend::node_near_device(preferred)) return preferred;
  for (int device = 0; device < Driver::device_count(); ++device)
    if (Backend::node_near_device(device) == node) return device;
  return preferred;
}

std::size_t dirty_bytes(void const* pointer) noexcept {
  if constexpr (has_stock_device) return std::numeric_limits<std::size_t>::max();
  return Backend::Pool::dirty_bytes(pointer);
}

bool is_only_registered(void const* memory) noexcept {
  return has_stock_device && Backend::is_registered(memory);
}

pool::Reservation reserve(SpaceDescription space, int device_id, std::size_t bytes,
                          std::size_t largest_block) {
  lock_when_initialized();
  Place const place = place_of(space, device_id);
  if constexpr (has_stock_device) bytes = 0;  // there is no pool
  return Backend::Pool::reserve(bytes, place.kind, place.numa_node, largest_block);
}

void at_finalize(std::function<void()> give_back) {
  endings().register_once();
  endings().add(std::move(give_back));
}

}  // namespace KokkosHostSpaces::Impl
