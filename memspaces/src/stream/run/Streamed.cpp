// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The lanes of this process, in Kokkos' device memory, and what users see of a streamed loop.

#include <KokkosHostSpaces/StreamedOptions.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>
#include <KokkosHostSpaces/impl/copy/CopyViews.hpp>
#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamJob.hpp>

#include "../../../../backend/Config.hpp"

#include <limits>

namespace KokkosHostSpaces {

namespace Impl {

std::shared_ptr<char> allocate_on_device([[maybe_unused]] int device,
                                         [[maybe_unused]] std::size_t bytes) {
#ifdef KOKKOS_ENABLE_CUDA
  using DeviceMemory = Kokkos::View<char*, Kokkos::CudaSpace>;
  try {
    auto const memory = std::make_shared<DeviceMemory>(
        Kokkos::view_alloc(private_instance(device), Kokkos::WithoutInitializing,
                           "KokkosHostSpaces: memory of streamed loops"),
        bytes);
    return {memory, memory->data()};
  } catch (std::exception const& error) {
    throw Error(
        "a streamed loop cannot have " + std::to_string(bytes) + " bytes of memory of device " +
        std::to_string(device) + " (" + error.what() +
        "): allow less by KOKKOS_HOST_SPACES_STREAM_MEMORY or StreamOptions::device_memory");
  }
#else
  throw Error("there is no device memory (this library was built without CUDA): use the host");
#endif
}

namespace {

std::size_t memory_limit() {
  std::size_t const bytes = Backend::config().stream_memory;
  return bytes > 0 ? bytes : std::numeric_limits<std::size_t>::max();
}

}  // namespace

// So that two loops can run at once.
std::size_t memory_of_a_loop() { return memory_limit() / 2; }

StreamResourcePool& stream_lanes() {
  static StreamResourcePool* const lanes = [] {
    auto* const made = new StreamResourcePool(allocate_on_device, memory_limit());
    at_finalize([made] {
      Kokkos::fence("KokkosHostSpaces: streamed loops end before Kokkos does");
      made->release();
    });
    return made;
  }();
  return *lanes;
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

StreamMemory stream_memory() { return {Impl::stream_lanes().held(), Impl::stream_lanes().limit()}; }

void release_stream_memory() { Impl::stream_lanes().release(); }

}  // namespace KokkosHostSpaces
