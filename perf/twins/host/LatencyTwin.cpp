// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../LatencyTwin.hpp"

#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct LatencyTwin::State {
  std::vector<std::function<void()>> graph;
};

LatencyTwin::LatencyTwin(Stream) : m_state(std::make_unique<State>()) {}
LatencyTwin::~LatencyTwin() = default;

void LatencyTwin::count(std::int64_t* count) { ++*count; }

void LatencyTwin::store(std::int64_t* where, std::int64_t value) { *where = value; }

void LatencyTwin::make_graph(int kernels, std::int64_t* count) {
  for (int i = 0; i < kernels; ++i) m_state->graph.push_back([count] { ++*count; });
}

void LatencyTwin::launch_graph() {
  for (auto const& kernel : m_state->graph) kernel();
}

void LatencyTwin::copy(void* destination, void const* source, std::size_t bytes) {
  std::memcpy(destination, source, bytes);
}

void LatencyTwin::answer(SignalAndAnswer*, int) {
  throw std::logic_error("no kernel runs beside its caller without a device");
}

void LatencyTwin::fence() {}

}  // namespace KokkosHostSpaces::Perf
