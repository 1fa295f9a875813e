// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The options of a streamed loop, and the handle of one that runs.

#ifndef KOKKOS_HOST_SPACES_STREAMED_OPTIONS_HPP
#define KOKKOS_HOST_SPACES_STREAMED_OPTIONS_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/StreamedTransport.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace KokkosHostSpaces {

/// Options of a streamed loop, all of which have defaults.
template <class ExecutionSpace = Kokkos::DefaultExecutionSpace>
struct StreamOptions {
  /// The transport, if the type of the call is Automatic.
  Transport transport = Transport::automatic;
  /// Rows (indices of the slowest dimension) of a chunk; 0: chosen from the sizes, the accesses and the
  /// device memory. Measurements do not count, so reductions on one device are the same in every run.
  std::int64_t chunk_rows = 0;
  /// Buffers of an argument, filled round-robin; 0: three.
  int slots = 0;
  /// Bytes of memory of each device that the loop may take; 0: half of
  /// KOKKOS_HOST_SPACES_STREAM_MEMORY, so that two loops can run at once: 512 MiB if that is unset.
  std::size_t device_memory = 0;
  /// The loop is ordered behind their earlier work and before their later work. Empty: the default
  /// instance. Several instances on different devices share the range.
  std::vector<ExecutionSpace> instances = {};
};

/// Handle of a streamed loop that was enqueued. Later work on its instance is ordered behind the loop
/// without a fence; host code needs fence(). The destructor does not wait.
class StreamedLoop {
 public:
  /// A handle without a loop, which is done.
  StreamedLoop() = default;
  /// For the library.
  explicit StreamedLoop(std::shared_ptr<Impl::StreamedState> state) : m_state(std::move(state)) {}

  /// Waits until the results are in host memory, and in the result of a reduction.
  /// \throw Error once, if the device reported an error
  void fence() const {
    if (m_state != nullptr) m_state->fence();
  }
  /// True if fence() would not wait.
  bool is_done() const { return state().is_done(); }

  /// The transport that was chosen.
  Transport transport() const { return state().transport; }
  /// The number of chunks.
  std::int64_t chunks() const { return state().chunks; }
  /// Rows of a chunk at most. The first and the last chunks have fewer, unless the rows were asked
  /// for.
  std::int64_t chunk_rows() const { return state().chunk_rows; }
  /// Bytes that the loop copies to devices.
  std::size_t bytes_to_device() const { return state().bytes_to_device; }
  /// Bytes that the loop copies from devices.
  std::size_t bytes_to_host() const { return state().bytes_to_host; }
  /// Bytes of device memory that the loop takes.
  std::size_t device_memory() const { return state().memory; }
  /// A sentence that tells the choice of the transport, the rule that it follows from, and the bytes.
  std::string explain() const { return state().explain(); }

 private:
  Impl::StreamedState const& state() const {
    return m_state != nullptr ? *m_state : Impl::no_streamed_loop();
  }

  std::shared_ptr<Impl::StreamedState> m_state;
};

/// The device memory that streamed loops keep for the next one, as the sum over all devices.
struct StreamMemory {
  std::size_t held;   ///< bytes
  std::size_t limit;  ///< bytes, of each device
};
/// The device memory that is kept now.
StreamMemory stream_memory();

/// Frees the device memory of streamed loops that are done. Waits for kernels, as every
/// deallocation of device memory does.
void release_stream_memory();

}  // namespace KokkosHostSpaces

#endif
