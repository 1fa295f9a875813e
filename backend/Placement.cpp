// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Placement.hpp"

#include "Config.hpp"
#include "Driver.hpp"
#include "os/Topology.hpp"

#include <array>
#include <atomic>

namespace KokkosHostSpaces::Impl {

int node_near_device(int device_id) noexcept {
  constexpr int max_devices = Driver::max_devices;
  constexpr int anywhere    = 1;  // node n is stored as n + 2, so that zero means not yet known
  static std::array<std::atomic<int>, max_devices> known{};
  if (device_id < 0 || device_id >= max_devices) return -1;
  int stored = known[device_id].load(std::memory_order_relaxed);
  if (stored == 0) {
    stored = anywhere;
    try {
      if (config().numa && device_id < Driver::device_count())
        stored = Topology::machine().nearest_node(Driver::pci_bus_id(device_id)) + 2;
    } catch (...) {
      // A machine that cannot say where its devices are still has memory.
    }
    known[device_id].store(stored, std::memory_order_relaxed);
  }
  return stored - 2;
}

}  // namespace KokkosHostSpaces::Impl
