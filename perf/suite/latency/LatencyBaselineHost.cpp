// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "LatencyBaseline.hpp"

#include <stdexcept>

namespace KokkosHostSpaces::Perf {
namespace {

class HostSteps final : public Steps {
 public:
  void count(std::int64_t* count) override { ++*count; }
  void store(std::int64_t* where, std::int64_t value) override { *where = value; }
  void copy(double* destination, double const* source) override { *destination = *source; }
  void answer(SignalAndAnswer*, int) override {
    throw std::logic_error("no kernel runs beside its caller without a device");
  }

  void chase(std::int64_t const* next, int steps, std::int64_t* end) override {
    std::int64_t at = 0;
    for (int i = 0; i < steps; ++i) at = next[at];
    *end = at;
  }

  void fence() override {}
};

}  // namespace

std::unique_ptr<Steps> make_plain_steps(Stream) { return std::make_unique<HostSteps>(); }

}  // namespace KokkosHostSpaces::Perf
