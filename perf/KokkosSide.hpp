// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_KOKKOS_SIDE_HPP
#define KOKKOS_HOST_SPACES_PERF_KOKKOS_SIDE_HPP

#include "twins/Side.hpp"

namespace KokkosHostSpaces::Perf {

/// The side that is written in Kokkos: Views in HostSpace, PinnedSpace, MappedSpace or the device's
/// own space, deep_copy on an instance, and parallel_for. Memory is not initialised.
std::unique_ptr<Side> make_kokkos_side(Transport transport, std::size_t capacity, Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
