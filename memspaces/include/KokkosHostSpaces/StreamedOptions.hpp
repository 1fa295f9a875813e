// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How a streamed loop moves its data, and what the caller has in hand while it runs.

#ifndef KOKKOS_HOST_SPACES_STREAMED_OPTIONS_HPP
#define KOKKOS_HOST_SPACES_STREAMED_OPTIONS_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamJob.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace KokkosHostSpaces {

/// Transports as types: `khs::streamed_for<khs::Staged>(...)`.
struct Staged {
  static constexpr Transport transport = Transport::staged;  ///< the same as a value
};
/// As above.
struct ZeroCopy {
  static constexpr Transport transport = Transport::zero_copy;  ///< the same as a value
};
/// As above: what the options say, and if they say nothing, what is faster.
struct Automatic {
  static constexpr Transport transport = Transport::automatic;  ///< the same as a value
};

/// What may be said about a streamed loop; all of it may be left out.
template <class ExecutionSpace = Kokkos::DefaultExecutionSpace>
struct StreamOptions {
  /// How data gets to the kernels, where the type of the call leaves it open.
  Transport transport = Transport::automatic;
  /// Rows (indices of the slowest dimension) at a time; 0: found from the sizes, what is read
  /// and written, and the device memory, not from measurements, so that reductions on one device
  /// are the same in every run. The parts of a reduction are those of the chunks.
  std::int64_t chunk_rows = 0;
  /// Buffers of an argument that are filled in turn; 0: three.
  int slots = 0;
  /// Bytes of memory of each device that the loop may take; 0: half of
  /// KOKKOS_HOST_SPACES_STREAM_MEMORY, so that two can run at once: 512 MiB if that is unset.
  std::size_t device_memory = 0;
  /// The loop is ordered with the work of these. Empty: the default instance. Several instances on
  /// different devices share the range.
  std::vector<ExecutionSpace> instances = {};
};

/// A streamed loop that was begun. What follows on its instance is ordered behind it, without any
/// fence; only code of the host has to wait. May be dropped: nothing waits then.
class StreamedLoop {
 public:
  /// None: done already.
  StreamedLoop() = default;
  /// For the library.
  explicit StreamedLoop(std::shared_ptr<Impl::StreamedState> state) : m_state(std::move(state)) {}

  /// Waits until all results are in the host's memory, and in the result of a reduction.
  /// \throw Error once, if the device reported an error
  void fence() const;
  /// Whether fence() would not wait.
  bool is_done() const;

  /// What was chosen.
  Transport transport() const;
  /// Chunks that the range was cut into.
  std::int64_t chunks() const;
  /// Rows of a chunk, at most: unless asked for, the first chunks and the last have fewer.
  std::int64_t chunk_rows() const;
  /// Bytes that the loop copies to devices, ...
  std::size_t bytes_to_device() const;
  /// ... from devices, ...
  std::size_t bytes_to_host() const;
  /// ... and holds there.
  std::size_t device_memory() const;
  /// What was chosen and why, with the estimates, for people.
  std::string explain() const;

 private:
  std::shared_ptr<Impl::StreamedState> m_state;
};

/// The device memory that streamed loops keep for the next one, as the sum over all devices.
struct StreamMemory {
  std::size_t held;   ///< bytes
  std::size_t limit;  ///< bytes, of each device
};
/// How much that is now.
StreamMemory stream_memory();

/// Gives the device memory of streamed loops that are done back. Waits for kernels, as every
/// deallocation of device memory does.
void release_stream_memory();

}  // namespace KokkosHostSpaces

#endif
