// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "LatencyBaseline.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

class HostSteps final : public StepsBy<HostSteps> {
 public:
  template <class Kernel>
  void enqueue(Kernel const& kernel) {
    kernel(0);
  }
  void copy(double* destination, double const* source) override { *destination = *source; }
  void fence() override {}
};

}  // namespace

std::unique_ptr<Steps> make_plain_steps(Stream) { return std::make_unique<HostSteps>(); }

}  // namespace KokkosHostSpaces::Perf
