// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_PLACEMENT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_PLACEMENT_HPP

#include "Config.hpp"
#include "os/Team.hpp"

#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

/// NUMA node nearest to a device, -1 where memory may lie anywhere: one node, no such device, or
/// placement switched off by KOKKOS_HOST_SPACES_NUMA. Asks the system until it knows; thread-safe.
int node_near_device(int device_id) noexcept;

/// True if two devices share the uplink of a switch; false where that is unknown.
bool share_uplink(int device, int other) noexcept;

/// The node that pages are bound to (-1: none), and the threads for their first touch.
struct Placed {
  int numa_node = -1;
  Team team     = {};
};

/// Binds fresh pages to a node (-1: any) unless the configuration forbids or the system refuses it. The
/// team runs on the cores of that node. The calling thread helps only if the pages are bound: its
/// touches could place them on another node.
Placed place_pages(void* pages, std::size_t bytes, int numa_node, Config const& config);

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
