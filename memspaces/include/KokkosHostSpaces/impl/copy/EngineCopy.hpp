// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A CopyPlan carried out by the copy engine.

#ifndef KOKKOS_HOST_SPACES_IMPL_ENGINE_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_ENGINE_COPY_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/core/Streams.hpp>

namespace KokkosHostSpaces::Impl {

/// Enqueues a strided copy on `stream` as plan.engine_calls() calls, and returns.
void copy_async(void* dst, void const* src, CopyPlan const& plan, StreamHandle stream);

}  // namespace KokkosHostSpaces::Impl

#endif
