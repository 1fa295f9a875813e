// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What is found out about the links of this machine.

#include <KokkosHostSpaces/impl/multipath/RelayedCopies.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include "../../../backend/Config.hpp"
#include "../../../backend/Driver.hpp"
#include "../../../backend/Error.hpp"
#include "../../../backend/os/Topology.hpp"

#include <numeric>

namespace KokkosHostSpaces::Impl {

namespace {

bool share_uplink(int device, int peer) try {
  return Backend::config().numa &&
         Backend::Topology::machine().share_uplink(Backend::Driver::pci_bus_id(device),
                                                   Backend::Driver::pci_bus_id(peer));
} catch (DeviceError const&) {
  return false;
}

}  // namespace

std::vector<int> all_devices() {
  std::vector<int> devices(static_cast<std::size_t>(Backend::Driver::device_count()));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

std::unique_ptr<RelayedCopies> make_relayed_copies(int device, std::vector<int> const& neighbours) {
  int const devices = Backend::Driver::device_count();
  for (int const neighbour : neighbours)
    if (neighbour < 0 || neighbour >= devices)
      throw Error("khs::MultiPath cannot copy through device " + std::to_string(neighbour) + " (" +
                  std::to_string(devices) +
                  " are visible, numbered from 0): name visible ones, or give no list to use all");
  RelayedCopies::Probe const probe{[](int of) { return link_rates({of})[0] / 2; }, share_uplink};
  bool const may = Backend::config().multi_path;
  return std::make_unique<RelayedCopies>(device, may ? neighbours : std::vector<int>(), probe,
                                         may ? "" : ": KOKKOS_HOST_SPACES_MULTI_PATH is off");
}

}  // namespace KokkosHostSpaces::Impl
