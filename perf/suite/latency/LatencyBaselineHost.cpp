// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "LatencyBaseline.hpp"

#include <cstring>
#include <stdexcept>

namespace KokkosHostSpaces::Perf {
namespace {

class HostLatencyBaseline final : public LatencyBaseline {
 public:
  std::vector<std::string> variants() const override { return {"calls"}; }

  void count(std::int64_t* count) override { ++*count; }
  void store(std::int64_t* where, std::int64_t value) override { *where = value; }

  void copy(void* destination, void const* source, std::size_t bytes) override {
    std::memcpy(destination, source, bytes);
  }

  void answer(SignalAndAnswer*, int) override {
    throw std::logic_error("no kernel runs beside its caller without a device");
  }

  void fence() override {}
};

}  // namespace

std::unique_ptr<LatencyBaseline> make_latency_baseline(Stream) {
  return std::make_unique<HostLatencyBaseline>();
}

}  // namespace KokkosHostSpaces::Perf
