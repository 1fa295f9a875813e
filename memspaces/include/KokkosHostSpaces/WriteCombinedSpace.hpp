// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_WRITE_COMBINED_SPACE_HPP
#define KOKKOS_HOST_SPACES_WRITE_COMBINED_SPACE_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>

namespace KokkosHostSpaces {

/// Page-locked host memory that the host's caches do not hold: the host produces, the device
/// consumes. Kernels read and write it in place.
///
/// The host should write it from front to back and never read it: reads are tens of times slower
/// than from the other spaces, and that includes `deep_copy` to HostSpace, `+=` and initialisation
/// checks. Atomics from the host are not supported. Lifetime and errors as for PinnedSpace.
class WriteCombinedSpace : public Impl::HostMemorySpace<WriteCombinedSpace> {
 public:
  /// This space, as Kokkos asks of a memory space.
  using memory_space = WriteCombinedSpace;
  /// The default host execution space with this memory.
  using device_type = Kokkos::Device<execution_space, memory_space>;

  using Impl::HostMemorySpace<WriteCombinedSpace>::HostMemorySpace;

  /// The name that Kokkos Tools and messages show.
  static constexpr char const* name() { return "WriteCombined"; }
};

}  // namespace KokkosHostSpaces

#endif
