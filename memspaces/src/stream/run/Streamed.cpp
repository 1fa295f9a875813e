// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pool of this process, and the handle of a streamed loop.

#include <KokkosHostSpaces/StreamedOptions.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>
#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>
#include <KokkosHostSpaces/impl/stream/run/LinkWeights.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include "../../../../backend/Config.hpp"
#include "../../../../backend/LinkProbe.hpp"

#include <Kokkos_Core.hpp>

#include <limits>

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

LinkWeights& weights_of_links() {
  constexpr std::size_t part = std::size_t(16) << 20;  // 0.3 ms on PCIe 5
  static LinkWeights weights([](int device) -> std::optional<double> {
    try {
      PoolMemory const host(device, "KokkosHostSpaces: rate of a link", 2 * part);
      return Backend::rate_of_idle_link(device, host.data(), part);
    } catch (OutOfPinnedMemory const&) {
      return std::nullopt;
    }
  });
  return weights;
}

}  // namespace

std::vector<double> link_weights(std::vector<int> const& devices) {
  return weights_of_links().of(devices);
}

double link_rate(int device) { return weights_of_links().rate(device); }

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

void StreamedLoop::fence() const {
  if (m_state != nullptr) m_state->fence();
}

bool StreamedLoop::is_done() const { return m_state == nullptr || m_state->is_done(); }

Transport StreamedLoop::transport() const {
  return m_state != nullptr ? m_state->transport : Transport::automatic;
}

std::int64_t StreamedLoop::chunks() const { return m_state != nullptr ? m_state->chunks : 0; }

std::int64_t StreamedLoop::chunk_rows() const {
  return m_state != nullptr ? m_state->chunk_rows : 0;
}

std::size_t StreamedLoop::bytes_to_device() const {
  return m_state != nullptr ? m_state->bytes_to_device : 0;
}

std::size_t StreamedLoop::bytes_to_host() const {
  return m_state != nullptr ? m_state->bytes_to_host : 0;
}

std::size_t StreamedLoop::device_memory() const { return m_state != nullptr ? m_state->memory : 0; }

std::string StreamedLoop::explain() const {
  if (m_state == nullptr) return "no streamed loop";
  return m_state->label + ": " +
         (m_state->transport == Transport::zero_copy ? "zero-copy" : "staged") + " (" +
         (m_state->why ? m_state->why() : "") + "), " + std::to_string(m_state->chunks) +
         " chunks of up to " + std::to_string(m_state->chunk_rows) + " rows, " +
         std::to_string(m_state->bytes_to_device) + " bytes to the device and " +
         std::to_string(m_state->bytes_to_host) + " back, " + std::to_string(m_state->memory) +
         " bytes of device memory";
}

StreamMemory stream_memory() {
  return {Impl::stream_resources().held(), Impl::stream_resources().limit()};
}

void release_stream_memory() { Impl::stream_resources().release(); }

}  // namespace KokkosHostSpaces
