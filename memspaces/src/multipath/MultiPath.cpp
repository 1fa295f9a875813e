// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What is found out about the links of this machine.

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/multipath/RelayedCopies.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include "../../../backend/Config.hpp"
#include "../../../backend/Driver.hpp"
#include "../../../backend/LinkProbe.hpp"
#include "../../../backend/Placement.hpp"

#include <numeric>

namespace KokkosHostSpaces::Impl {

namespace {

double link_rate(int device) { return link_rates({device})[0]; }

// A virtual machine may show a switch that is none: then both links at once are measured, too.
bool compete(int device, int peer) {
  constexpr std::size_t part = std::size_t(16) << 20;
  if (!Backend::share_uplink(device, peer)) return false;
  try {
    PoolMemory const host(device, "KokkosHostSpaces: rate of two links", 4 * part);
    auto* const begin = static_cast<char*>(host.data());
    Backend::LinkProbe probe({{device, begin}, {peer, begin + 2 * part}}, part);
    double const alone = link_rate(device);
    return alone == 0 || probe.best_rate({1, 1}, 8) < 1.5 * alone;
  } catch (Error const&) {
    return true;
  }
}

}  // namespace

std::vector<int> all_devices() {
  std::vector<int> devices(std::size_t(Backend::Driver::device_count()));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

std::unique_ptr<RelayedCopies> make_relayed_copies(int device, std::vector<int> const& neighbours) {
  int const devices = Backend::Driver::device_count();
  for (int const neighbour : neighbours)
    if (neighbour < 0 || neighbour >= devices)
      throw Error("khs::MultiPath cannot copy through device " + std::to_string(neighbour) + " (" +
                  std::to_string(devices) +
                  " are visible, numbered from 0): name visible ones, or none to use all");
  RelayedCopies::Probe const probe{[](int of) { return link_rate(of) / 2; }, compete};
  return std::make_unique<RelayedCopies>(
      device, neighbours, probe,
      Backend::config().multi_path ? "" : "KOKKOS_HOST_SPACES_MULTI_PATH is off");
}

}  // namespace KokkosHostSpaces::Impl
