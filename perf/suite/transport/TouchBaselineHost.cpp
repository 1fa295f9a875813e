// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "TouchBaseline.hpp"

#include "../../plain/LoopsHost.hpp"

#include <cstring>

namespace KokkosHostSpaces::Perf {
namespace {

class HostTouchBaseline final : public TouchBaseline {
 public:
  std::vector<std::string> variants() const override { return {"a loop"}; }

  void read(double const* array, double* sums, TouchedRuns const& runs) override {
    for_each_index(runs.touched, [=](std::uint64_t run) {
      double const* const values =
          array + run_elements * (run * runs.all / runs.touched + runs.shift);
      double sum = 0;
      for (int e = 0; e < run_elements; ++e) sum += values[e];
      sums[run] += sum;
    });
  }

  void copy(void* destination, void const* source, std::size_t bytes) override {
    std::memcpy(destination, source, bytes);
  }
};

}  // namespace

std::unique_ptr<TouchBaseline> make_touch_baseline(Stream) {
  return std::make_unique<HostTouchBaseline>();
}

}  // namespace KokkosHostSpaces::Perf
