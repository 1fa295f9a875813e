// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_MAPPED_SPACE_HPP
#define KOKKOS_HOST_SPACES_MAPPED_SPACE_HPP

#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>
#include <KokkosHostSpaces/impl/core/HostMemorySpace.hpp>
#include <KokkosHostSpaces/impl/spaces/Mirrors.hpp>
#include <KokkosHostSpaces/impl/spaces/Resize.hpp>
#include <KokkosHostSpaces/impl/spaces/ZeroFillGlue.hpp>

namespace KokkosHostSpaces {

/// Page-locked host memory that kernels read and write in place, over the link: for data touched
/// once, sparse access, small control data, and flags between the host and a running kernel.
///
/// Coherence: the host sees what a kernel wrote after a fence of the kernel's instance; *during*
/// the kernel only values that are written and read by system-scope atomics (`cuda::atomic_ref`
/// with `cuda::thread_scope_system` in the kernel, `std::atomic_ref` on the host). Not with HIP, whose
/// pinned memory in Kokkos is not coherent during a kernel.
///
/// `Kokkos::Device<Kokkos::Cuda, MappedSpace>` makes Views whose default execution space is Cuda.
/// Lifetime and errors as for PinnedSpace.
class MappedSpace : public Impl::HostMemorySpace<MappedSpace> {
 public:
  /// Required of a memory space by Kokkos.
  using memory_space = MappedSpace;
  /// The default host execution space with this memory.
  using device_type = Kokkos::Device<execution_space, memory_space>;

  using Impl::HostMemorySpace<MappedSpace>::HostMemorySpace;

  /// The name that Kokkos Tools and messages show.
  static constexpr char const* name() { return "Mapped"; }
  /// Names the caching by processors, and the pools of the memory.
  static constexpr MemoryKind memory_kind = MemoryKind::page_locked;
};

}  // namespace KokkosHostSpaces

#endif
