// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_INSTANCE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_INSTANCE_HPP

#include "../plain/Baseline.hpp"

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace KokkosHostSpaces::Perf {

using Execution = Kokkos::DefaultExecutionSpace;

inline constexpr bool runs_on_device =
    !std::is_same_v<Execution, Kokkos::DefaultHostExecutionSpace>;

/// An instance on the stream of the baseline; without a device the default one.
inline Execution make_instance([[maybe_unused]] Stream stream) {
#ifdef KOKKOS_ENABLE_CUDA
  return Execution(static_cast<cudaStream_t>(stream));
#else
  return Execution();
#endif
}

}  // namespace KokkosHostSpaces::Perf

#endif
