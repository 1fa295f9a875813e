// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include "../../../backend/LinkProbe.hpp"
#include "../../../backend/PageLock.hpp"
#include "../../../backend/os/Pages.hpp"
#include "../../plain/Numbers.hpp"
#include "../../plain/Platform.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace KokkosHostSpaces::Perf {
namespace {

// Filling and checking contents, starting CUDA and freeing memory take the rest of 5 seconds.
constexpr double seconds_of_page_locking = 0.8;
constexpr int rounds_of_each_rate        = 8;

constexpr std::size_t most_bytes = std::size_t(512) << 20;

struct GiveBack {
  void operator()(Impl::Backend::Region* region) const {
    Impl::Backend::give_back(*region);
    delete region;
  }
};
using Buffer = std::unique_ptr<Impl::Backend::Region, GiveBack>;

Buffer lock_pages(std::size_t bytes, int numa_node) {
  return Buffer(new Impl::Backend::Region(
      Impl::Backend::lock_fresh_pages(bytes, MemoryKind::page_locked, numa_node)));
}

// Long enough to be exact, and small for the machine.
std::size_t bytes_to_measure(Findings const& findings) {
  std::size_t const usable =
      std::min(findings.memory_available_bytes,
               findings.container_limit.value_or(findings.memory_available_bytes));
  std::size_t const bytes = std::min(most_bytes, usable / 4) / Impl::Backend::huge_page_bytes *
                            Impl::Backend::huge_page_bytes;
  if (bytes == 0)
    throw std::runtime_error(
        "there is too little memory to measure with: see --no-measure, or free some");
  return bytes;
}

// Measures one allocation after another, and keeps the last one in `buffer`.
double seconds_to_lock(std::size_t bytes, int numa_node, double seconds, Buffer& buffer) {
  // Leave out the work of the first allocation in a process, such as asking hwloc for the topology.
  buffer = lock_pages(Impl::Backend::huge_page_bytes, numa_node);
  return median_time(seconds, [&] {
    buffer.reset();
    auto const begin = std::chrono::steady_clock::now();
    buffer           = lock_pages(bytes, numa_node);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
}

GpuRates measure_gpu(int device, Gpu const& gpu, std::size_t bytes, double share) {
  use_device(device);
  GpuRates result;
  Buffer buffer;
  double const seconds =
      seconds_to_lock(bytes, gpu.near_node, share * seconds_of_page_locking, buffer);
  result.bytes       = bytes;
  result.page_lock   = double(bytes) / seconds;
  result.huge_pages  = buffer->huge_pages;
  result.buffer_node = Impl::Backend::Topology::machine().node_of(buffer->pointer, bytes);

  std::size_t const count = bytes / 2 / sizeof(std::uint64_t);
  auto* const sent        = static_cast<std::uint64_t*>(buffer->pointer);
  fill(sent, count);
  poison(sent + count, count);
  Impl::Backend::LinkProbe probe({{device, sent}}, bytes / 2);
  result.to_device = probe.best_rate({1, 0}, rounds_of_each_rate);
  result.to_host   = probe.best_rate({0, 1}, rounds_of_each_rate);
  result.both      = probe.best_rate({1, 1}, rounds_of_each_rate);
  probe.seconds({2, 2}, [&] { result.link = current_link(gpu.pci_bus_id); });
  result.verified = matches(sent + count, count);
  return result;
}

}  // namespace

void measure(Findings& findings) {
  if (findings.gpus.empty()) return;
  std::size_t const bytes = bytes_to_measure(findings);
  double const share      = 1. / double(findings.gpus.size());
  for (std::size_t i = 0; i < findings.gpus.size(); ++i)
    findings.gpus[i].rates = measure_gpu(static_cast<int>(i), findings.gpus[i], bytes, share);
}

}  // namespace KokkosHostSpaces::Perf
