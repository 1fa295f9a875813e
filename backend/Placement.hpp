// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_PLACEMENT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_PLACEMENT_HPP

namespace KokkosHostSpaces::Impl {

/// NUMA node nearest to a device, -1 where memory may lie anywhere: one node, no such device, or
/// placement switched off by KOKKOS_HOST_SPACES_NUMA. Asks the system once per device; thread-safe.
int node_near_device(int device_id) noexcept;

}  // namespace KokkosHostSpaces::Impl

#endif
