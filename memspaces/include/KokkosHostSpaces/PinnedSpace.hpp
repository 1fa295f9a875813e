// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PINNED_SPACE_HPP
#define KOKKOS_HOST_SPACES_PINNED_SPACE_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>

namespace KokkosHostSpaces {

/// Page-locked host memory for data that is copied: `Kokkos::deep_copy` with a `Kokkos::Cuda`
/// instance is truly asynchronous and runs at the full rate of the link.
///
/// Host code reads and writes it. Kernels cannot access it: Kokkos reports that as an error, since it
/// would cross the bus element by element. `mapped_view` allows it explicitly, without a copy. In a
/// Kokkos without Cuda all code can access it.
///
/// Destroying a View never waits for the device, and its memory is not used again while device work
/// submitted before the destruction may touch it. Allocation throws OutOfPinnedMemory.
class PinnedSpace : public Impl::HostMemorySpace<PinnedSpace> {
 public:
  /// Required of a memory space by Kokkos.
  using memory_space = PinnedSpace;
  /// The default host execution space with this memory.
  using device_type = Kokkos::Device<execution_space, memory_space>;

  using Impl::HostMemorySpace<PinnedSpace>::HostMemorySpace;

  /// The name that Kokkos Tools and messages show.
  static constexpr char const* name() { return "Pinned"; }
  /// Names the caching by processors, and the pools of the memory.
  static constexpr MemoryKind memory_kind = MemoryKind::page_locked;
};

}  // namespace KokkosHostSpaces

#endif
