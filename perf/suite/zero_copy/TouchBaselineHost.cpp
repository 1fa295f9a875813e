// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "TouchBaseline.hpp"

#include "../../plain/LoopsHost.hpp"

#include <cstring>

namespace KokkosHostSpaces::Perf {
namespace {

// body(run, its first element)
template <class Body>
void for_each_run(TouchedRuns const& runs, Body body) {
  for_each_index(runs.touched, [=](std::uint64_t run) {
    body(run, run_elements * (run * runs.all / runs.touched + runs.shift));
  });
}

class HostTouchBaseline final : public TouchBaseline {
 public:
  std::vector<std::string> variants() const override { return {"a loop"}; }

  void read(double const* array, double* sums, TouchedRuns const& runs) override {
    for_each_run(runs, [=](std::uint64_t run, std::uint64_t first) {
      double sum = 0;
      for (std::uint64_t e = first; e < first + run_elements; ++e) sum += array[e];
      sums[run] += sum;
    });
  }

  void write(double* array, double value, TouchedRuns const& runs) override {
    for_each_run(runs, [=](std::uint64_t, std::uint64_t first) {
      for (std::uint64_t e = first; e < first + run_elements; ++e) array[e] = value + double(e);
    });
  }

  void copy(void* destination, void const* source, std::size_t bytes) override {
    std::memcpy(destination, source, bytes);
  }
};

}  // namespace

std::unique_ptr<TouchBaseline> make_touch_baseline(bool, Stream) {
  return std::make_unique<HostTouchBaseline>();
}

}  // namespace KokkosHostSpaces::Perf
