// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "BusyDevice.hpp"
#include "../../plain/CheckCuda.hpp"
#include "../../plain/GateCuda.hpp"

#include <algorithm>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct BusyDevice::State {
  struct HeldStream {
    CudaStream stream;
    Gate gate;
    ~HeldStream() { (void)cudaStreamSynchronize(stream); }
  };
  std::vector<HeldStream> held;
};

BusyDevice::BusyDevice(int streams, double longest_seconds) : m_state(std::make_unique<State>()) {
  m_state->held = std::vector<State::HeldStream>(std::size_t(streams));
  for (auto& [stream, gate] : m_state->held) gate.close(stream, longest_seconds);
  for (auto const& [stream, gate] : m_state->held) {
    while (!gate.is_reached()) {
    }
  }
}

// Open all gates before a stream is waited for.
BusyDevice::~BusyDevice() {
  for (auto& [stream, gate] : m_state->held) gate.open();
}

bool BusyDevice::is_busy() const {
  return std::ranges::none_of(m_state->held, [](auto const& one) { return one.gate.gave_up(); });
}

}  // namespace KokkosHostSpaces::Perf
