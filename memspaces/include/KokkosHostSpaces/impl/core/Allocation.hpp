// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Allocation from the pool, as memory spaces see it: in bytes, with calls to Kokkos Tools.

#ifndef KOKKOS_HOST_SPACES_IMPL_ALLOCATION_HPP
#define KOKKOS_HOST_SPACES_IMPL_ALLOCATION_HPP

#include <KokkosHostSpaces/backend/MemoryKind.hpp>
#include <KokkosHostSpaces/backend/pool/Control.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// A memory space as the compiled part knows it.
struct SpaceDescription {
  char const* name;
  MemoryKind kind;
};

/// Allocates near a device and reports the allocation to Kokkos Tools.
///
/// \param device_id     device id; -1: Kokkos' default device
/// \param bytes         size of the allocation, with Kokkos' header
/// \param logical_bytes size reported to tools; 0: `bytes`
/// \throw OutOfPinnedMemory
void* allocate(SpaceDescription space, int device_id, char const* label, std::size_t bytes,
               std::size_t logical_bytes);

/// Reports the deallocation to Kokkos Tools and returns the memory to the pool. Does not wait.
void deallocate(SpaceDescription space, char const* label, void* pointer, std::size_t bytes,
                std::size_t logical_bytes);

/// While this lives, the memory around `data` that this thread deallocates waits only for the work
/// that `stream` has by then.
class ScopedRetirement {
 public:
  ScopedRetirement(void const* data, void* stream, int device) noexcept;
  ~ScopedRetirement();
  ScopedRetirement(ScopedRetirement const&)            = delete;
  ScopedRetirement& operator=(ScopedRetirement const&) = delete;

  void const* const data;
  void* const stream;
  int const device;

 private:
  ScopedRetirement const* m_before;
};

/// Page-locked, mapped memory of the pool for the lifetime of this object. The pool hands it out
/// again when the device work that was enqueued before the destruction is done.
class PoolMemory {
 public:
  /// \param device_id as of allocate
  /// \param label     shown by Kokkos Tools and in messages
  /// \throw OutOfPinnedMemory
  PoolMemory(int device_id, std::string label, std::size_t bytes)
      : m_label(std::move(label)),
        m_bytes(bytes),
        m_data(allocate(space, device_id, m_label.c_str(), bytes, 0)) {}
  ~PoolMemory() { deallocate(space, m_label.c_str(), m_data, m_bytes, 0); }
  PoolMemory(PoolMemory const&)            = delete;
  PoolMemory& operator=(PoolMemory const&) = delete;

  void* data() const { return m_data; }  ///< aligned to 256 bytes; nullptr for zero bytes

 private:
  static constexpr SpaceDescription space{"Mapped", MemoryKind::page_locked};

  std::string m_label;
  std::size_t m_bytes;
  void* m_data;
};

/// Returns a device near which the memory lies: `preferred` if that is near, or if no device is
/// known to be.
int device_near(void const* memory, int preferred);

/// Returns the number of leading bytes that may be non-zero; the rest of the block is zero. Call it
/// right after the allocation, before anything behind `pointer` is written.
std::size_t dirty_bytes(void const* pointer) noexcept;

/// True for memory of a Registration that kernels do not reach, since the device is not driven.
bool is_only_registered(void const* memory) noexcept;

/// Page-locks memory for later allocations, in the background.
pool::Reservation reserve(SpaceDescription space, int device_id, std::size_t bytes,
                          std::size_t largest_block);

/// Makes Kokkos::initialize, if it is still to come, page-lock what was allocated or registered before.
/// Thread-safe.
void lock_when_initialized();

/// Registers a function that Kokkos::finalize calls, the last one first, before cached memory is
/// released. Thread-safe. What a program first uses behind that, in a hook that it registered before
/// its first allocation in our spaces, ends with the process.
void at_finalize(std::function<void()> give_back);

}  // namespace KokkosHostSpaces::Impl

#endif
