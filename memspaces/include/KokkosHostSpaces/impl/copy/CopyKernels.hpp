// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels that copy bytes, whatever Views they are of: compiled once, in src/.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_KERNELS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_KERNELS_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>

#include <Kokkos_Core.hpp>

#ifdef KOKKOS_ENABLE_CUDA

namespace KokkosHostSpaces::Impl {

/// Enqueues a copy that suits_tiles on `instance` and returns. Kernels reach both sides.
void enqueue_tiled_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                        CopyPlan const& plan, bool device_reads_host_memory);

/// The same of a copy that suits_row_kernel.
void enqueue_row_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                      CopyPlan const& plan);

/// Enqueues a copy that suits_tiles between page-locked and device memory, by slabs (SlabCopies.hpp) if that can be.
void enqueue_slab_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                       CopyPlan const& plan, LinkWay way);

}  // namespace KokkosHostSpaces::Impl

#endif  // KOKKOS_ENABLE_CUDA

#endif
