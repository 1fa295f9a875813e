// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_HOST_MEMORY_SPACE_HPP
#define KOKKOS_HOST_SPACES_IMPL_HOST_MEMORY_SPACE_HPP

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/SpaceTraits.hpp>

#include <cstddef>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// What the three memory spaces have in common: Kokkos' interface of a memory space, and the device
/// near which the memory shall lie.
template <class Space>
class HostMemorySpace {
 public:
  /// What runs on Views by default: host code.
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  /// Of extents and indices.
  using size_type = std::size_t;

  /// Memory near Kokkos' default device.
  HostMemorySpace() = default;

  /// Memory near a device, given by its CUDA device id. All devices can use it.
  explicit HostMemorySpace(int device_id) : m_device_id(device_id) {}

  /// Memory near the device of an execution space instance; for a host instance as by default.
  template <class ExecutionSpace>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  explicit HostMemorySpace([[maybe_unused]] ExecutionSpace const& instance) {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
      m_device_id = instance.cuda_device();
#endif
  }

  /// The CUDA device id given at construction, -1 for Kokkos' default device.
  int device_id() const noexcept { return m_device_id; }

  /// Untracked memory of `bytes` bytes, aligned to 256 bytes; nullptr for zero bytes. Blocks the
  /// calling thread, waits for no device. \throw OutOfPinnedMemory
  void* allocate(std::size_t bytes) const { return allocate("[unlabeled]", bytes); }

  /// As above; `label` names the memory in messages and in tools, which are told `logical_bytes`,
  /// the size without Kokkos' header (0: `bytes`).
  void* allocate(char const* label, std::size_t bytes, std::size_t logical_bytes = 0) const {
    return Impl::allocate(describe(), m_device_id, label, bytes, logical_bytes);
  }

  /// As above: an allocation is not ordered with the work of an instance.
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

  /// Gives memory back; never waits for a device. Device work submitted before the call may still
  /// use it. nullptr is ignored.
  void deallocate(void* pointer, std::size_t bytes) const {
    deallocate("[unlabeled]", pointer, bytes);
  }

  /// As above, with the label and the size that were given to allocate.
  void deallocate(char const* label, void* pointer, std::size_t bytes,
                  std::size_t logical_bytes = 0) const {
    Impl::deallocate(describe(), label, pointer, bytes, logical_bytes);
  }

  /// Not for users: what the compiled part needs to know.
  static SpaceDescription describe() {
    return {Space::name(), std::is_same_v<Space, WriteCombinedSpace>};
  }

 private:
  int m_device_id = -1;
};

}  // namespace KokkosHostSpaces::Impl

#endif
