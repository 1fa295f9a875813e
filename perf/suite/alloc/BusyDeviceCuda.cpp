// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "BusyDevice.hpp"
#include "../../plain/CheckCuda.hpp"
#include "../../plain/GateCuda.hpp"

namespace KokkosHostSpaces::Perf {

struct BusyDevice::State {
  CudaStream stream;
  Gate gate;
};

BusyDevice::BusyDevice(double longest_seconds) : m_state(std::make_unique<State>()) {
  m_state->gate.close(m_state->stream, longest_seconds);
  while (!m_state->gate.is_reached()) {
  }
}

BusyDevice::~BusyDevice() {
  m_state->gate.open();
  (void)cudaStreamSynchronize(m_state->stream);
}

bool BusyDevice::is_busy() const { return !m_state->gate.gave_up(); }

}  // namespace KokkosHostSpaces::Perf
