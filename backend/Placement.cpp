// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Placement.hpp"

#include "Driver.hpp"
#include "os/Pages.hpp"
#include "os/Topology.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

// Enough threads to keep the memory busy, each with enough to do: clearing 4 MiB takes a thread
// 0.5 ms, starting one 10 us.
int touch_threads(std::size_t bytes, int cores, Config const& config) {
  if (bytes < huge_page_bytes) return 1;
  if (config.touch_threads > 0) return config.touch_threads;
  constexpr std::size_t bytes_per_thread = std::size_t(4) << 20;
  constexpr std::size_t most             = 16;
  auto const at_hand                     = static_cast<std::size_t>(std::max(cores, 1));
  return static_cast<int>(std::min({at_hand, most, bytes / bytes_per_thread + 1}));
}

}  // namespace

int node_near_device(int device_id) noexcept {
  // Node n is stored as n + 2: 1 is "anywhere", 0 is not yet known.
  static std::array<std::atomic<int>, Driver::max_devices> known{};
  if (device_id < 0 || device_id >= Driver::max_devices) return -1;
  if (int const stored = known[device_id].load(std::memory_order_relaxed); stored != 0)
    return stored - 2;
  try {
    if (!config().numa || device_id >= Driver::device_count()) return -1;
    Topology const& machine = Topology::machine();
    int const node          = machine.nearest_node(Driver::pci_bus_id(device_id));
    if (machine.is_known()) known[device_id].store(node + 2, std::memory_order_relaxed);
    return node;
  } catch (...) {
    return -1;  // what the driver fails to tell it may tell later
  }
}

bool share_uplink(int device, int other) noexcept {
  try {
    return Topology::machine().share_uplink(Driver::pci_bus_id(device), Driver::pci_bus_id(other));
  } catch (...) {
    return false;
  }
}

Placed place_pages(void* pages, std::size_t bytes, int numa_node, Config const& config) {
  Placed placed;
  if (config.numa && numa_node >= 0) {
    Topology const& machine  = Topology::machine();
    bool const bound         = machine.bind_memory(pages, bytes, numa_node);
    placed.numa_node         = bound ? numa_node : -1;
    placed.team.cores        = machine.cores_for(numa_node);
    placed.team.caller_helps = bound;
  } else {
    placed.team.cores = Cores::allowed();
  }
  placed.team.threads = touch_threads(bytes, placed.team.cores.count(), config);
  return placed;
}

}  // namespace KokkosHostSpaces::Impl::Backend
