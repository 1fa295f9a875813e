// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_HOST_MEMORY_SPACE_HPP
#define KOKKOS_HOST_SPACES_IMPL_HOST_MEMORY_SPACE_HPP

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/SpaceTraits.hpp>

#include <cstddef>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// The common base of the three memory spaces: Kokkos' interface of a memory space, and the device
/// near which memory is placed.
template <class Space>
class HostMemorySpace {
 public:
  /// The execution space of Views by default: the host.
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  /// The type of extents and indices.
  using size_type = std::size_t;

  /// Memory near Kokkos' default device.
  HostMemorySpace() = default;

  /// Memory near a device, which all devices can use.
  ///
  /// \param device_id as Kokkos::device_id() counts
  explicit HostMemorySpace(int device_id) : m_device_id(device_id) {}

  /// Memory near the device of an execution space instance; a host instance means Kokkos' default
  /// device.
  template <class ExecutionSpace>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  explicit HostMemorySpace([[maybe_unused]] ExecutionSpace const& instance) {
    if constexpr (is_driven_v<ExecutionSpace>) m_device_id = device_id_of(instance);
  }

  /// The device id given at construction, -1 for Kokkos' default device.
  int device_id() const noexcept { return m_device_id; }

  /// Allocates memory without a Kokkos record, aligned to 256 bytes. Blocks the calling thread,
  /// waits for no device.
  ///
  /// \return nullptr for zero bytes
  /// \throw OutOfPinnedMemory
  void* allocate(std::size_t bytes) const { return allocate("[unlabeled]", bytes); }

  /// As above.
  ///
  /// \param label         names the memory in messages and in Kokkos Tools
  /// \param logical_bytes size without Kokkos' header, for Kokkos Tools; 0: `bytes`
  void* allocate(char const* label, std::size_t bytes, std::size_t logical_bytes = 0) const {
    return Impl::allocate(describe(), m_device_id, label, bytes, logical_bytes);
  }

  /// As above. An allocation is not ordered with the work of an instance.
  template <class ExecutionSpace>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void* allocate(ExecutionSpace const&, std::size_t bytes) const { return allocate(bytes); }

  /// As above.
  template <class ExecutionSpace>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void* allocate(ExecutionSpace const&, char const* label, std::size_t bytes,
                 std::size_t logical_bytes = 0) const {
    return allocate(label, bytes, logical_bytes);
  }

  /// Returns memory to the pool. Never waits for a device. Device work enqueued before the call may
  /// still use the memory. Ignores nullptr.
  void deallocate(void* pointer, std::size_t bytes) const {
    deallocate("[unlabeled]", pointer, bytes);
  }

  /// As above, with the label and the size that were given to allocate.
  void deallocate(char const* label, void* pointer, std::size_t bytes,
                  std::size_t logical_bytes = 0) const {
    Impl::deallocate(describe(), label, pointer, bytes, logical_bytes);
  }

  /// Not for users: describes the space to the compiled part.
  static SpaceDescription describe() { return {Space::name(), Space::memory_kind}; }

 private:
  int m_device_id = -1;
};

}  // namespace KokkosHostSpaces::Impl

#endif
