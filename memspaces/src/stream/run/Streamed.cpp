// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pool of this process, and the handle of a streamed loop.

#include <KokkosHostSpaces/StreamedOptions.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>
#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>
#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include "../../../../backend/Config.hpp"
#include "../../../../backend/LinkProbe.hpp"

#include <Kokkos_Core.hpp>

#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace KokkosHostSpaces {

namespace Impl {

DeviceMemory allocate_stream_memory(int device, std::size_t bytes) {
  return allocate_on_device(
      device, bytes, "a streamed loop",
      "allow less by KOKKOS_HOST_SPACES_STREAM_MEMORY or StreamOptions::device_memory");
}

namespace {

std::size_t memory_limit() {
  std::size_t const bytes = Backend::config().stream_memory;
  return bytes > 0 ? bytes : std::numeric_limits<std::size_t>::max();
}

}  // namespace

// Two loops can run at once.
std::size_t memory_of_a_loop() { return memory_limit() / 2; }

namespace {

std::optional<double> measured_rate(int device) {
  constexpr std::size_t part = std::size_t(16) << 20;  // 0.3 ms on PCIe 5
  try {
    PoolMemory const host(device, "KokkosHostSpaces: rate of a link", 2 * part);
    return Backend::rate_of_idle_link(device, host.data(), part);
  } catch (OutOfPinnedMemory const&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<double> link_rates(std::vector<int> const& devices) {
  struct Link {
    std::optional<double> rate;
    int attempts = 0;  // few: the reason of a failure may last, and finding it takes time
  };
  static std::recursive_mutex mutex;  // a tool that is told of memory for it may ask, too
  static std::map<int, Link> links;
  std::lock_guard const lock(mutex);
  std::vector<double> rates;
  for (int const device : devices) {
    Link& link = links[device];
    if (!link.rate && link.attempts++ < 3) link.rate = measured_rate(device);
    rates.push_back(link.rate.value_or(0));
  }
  return rates;
}

bool pretends_device() { return Backend::config().pretend_device; }

StreamResourcePool& stream_resources() {
  static StreamResourcePool* const pool = [] {
    auto* const made = new StreamResourcePool(allocate_stream_memory, memory_limit());
    at_finalize([made] {
      Kokkos::fence("KokkosHostSpaces: streamed loops end before Kokkos does");
      made->release();
    });
    return made;
  }();
  return *pool;
}

}  // namespace Impl

StreamMemory stream_memory() {
  return {Impl::stream_resources().held(), Impl::stream_resources().limit()};
}

void release_stream_memory() { Impl::stream_resources().release(); }

}  // namespace KokkosHostSpaces
