// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "BusyDevice.hpp"
#include "../../plain/CheckCuda.hpp"
#include "../../plain/GateCuda.hpp"

#include <algorithm>
#include <vector>

namespace KokkosHostSpaces::Perf {
namespace {

class HeldStream {
 public:
  ~HeldStream() {
    gate.open();
    (void)cudaStreamSynchronize(m_stream);
  }

  void hold(double longest_seconds) { gate.close(m_stream, longest_seconds); }

  Gate gate;

 private:
  CudaStream m_stream;
};

}  // namespace

struct BusyDevice::State {
  explicit State(int streams) : held(static_cast<std::size_t>(streams)) {}

  std::vector<HeldStream> held;
};

BusyDevice::BusyDevice(int streams, double longest_seconds)
    : m_state(std::make_unique<State>(streams)) {
  for (HeldStream& stream : m_state->held) stream.hold(longest_seconds);
  for (HeldStream const& stream : m_state->held) {
    while (!stream.gate.is_reached()) {
    }
  }
}

// Open all gates before the destructor of a stream waits.
BusyDevice::~BusyDevice() {
  for (HeldStream& stream : m_state->held) stream.gate.open();
}

bool BusyDevice::is_busy() const {
  return std::ranges::none_of(m_state->held,
                              [](HeldStream const& stream) { return stream.gate.gave_up(); });
}

}  // namespace KokkosHostSpaces::Perf
