// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_WRITE_COMBINED_SPACE_HPP
#define KOKKOS_HOST_SPACES_WRITE_COMBINED_SPACE_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>

namespace KokkosHostSpaces {

/// Page-locked host memory that bypasses the host's caches (write-combined): the host writes, the device
/// reads. Kernels read and write it in place.
///
/// The host should write it from front to back and never read it: reads are tens of times slower than
/// from the other spaces, and so are `deep_copy` to HostSpace and `+=`. Atomics from the host are not
/// supported. Lifetime and errors as for PinnedSpace.
class WriteCombinedSpace : public Impl::HostMemorySpace<WriteCombinedSpace> {
 public:
  /// Required of a memory space by Kokkos.
  using memory_space = WriteCombinedSpace;
  /// The default host execution space with this memory.
  using device_type = Kokkos::Device<execution_space, memory_space>;

  using Impl::HostMemorySpace<WriteCombinedSpace>::HostMemorySpace;

  /// The name that Kokkos Tools and messages show.
  static constexpr char const* name() { return "WriteCombined"; }
  /// Names the caching by processors, and the pools of the memory.
  static constexpr MemoryKind memory_kind = MemoryKind::write_combined;
};

}  // namespace KokkosHostSpaces

#endif
