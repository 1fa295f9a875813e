// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A queue of copies that lets others have their turns. A GPU stays with a stream as long as that has
// copies that may begin: on one stream, all copies of a loop run before another loop gets the link.
// So operations take two streams in turn, and each waits for half of the last copy of the one before
// it. When one is done, its stream has nothing that may begin, and the GPU takes the next stream; the
// loop's own is ready by then, so that the link never waits. All wait for what was enqueued before
// them, so there is no deadlock, whatever streams share. If that is a queue of the GPU, of which it
// has few (CUDA_DEVICE_MAX_CONNECTIONS), loops run one after the other, as on one stream each.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_TURNS_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_TURNS_HPP

#include <KokkosHostSpaces/impl/StreamStock.hpp>

#include <array>
#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// Copies in the order of the calls, as on one stream: what is recorded is behind all before it.
class StreamTurns {
 public:
  explicit StreamTurns(int device) : m_device(device) {}
  ~StreamTurns();
  StreamTurns(StreamTurns const&)            = delete;
  StreamTurns& operator=(StreamTurns const&) = delete;

  /// Begins a loop, behind an event. \param gives_way else all is on one stream, by fewer calls
  void start(StreamSet::Pair const& streams, void* behind, bool gives_way);

  /// A copy of an operation, which has one or more.
  void copy(void* dst, void const* src, std::size_t bytes);
  /// Its last one.
  void last_copy(void* dst, void const* src, std::size_t bytes);

  /// What follows waits for an event. To be called between operations.
  void wait(void* event);
  /// Records what was enqueued so far: whole operations.
  void record(void*& event);

  /// Until all is done; errors are not told.
  void drain() noexcept;

 private:
  static constexpr std::size_t most = 2;

  struct Operation {
    void* admits_next = nullptr;  ///< events
    void* ends        = nullptr;
  };
  Operation& latest() { return m_latest[m_number % most]; }
  Operation& one_before() { return m_latest[(m_number + 1) % most]; }
  void* stream() const { return m_streams[m_number % m_used]; }
  void begin();
  void end();

  int m_device;
  StreamSet::Pair m_streams{};
  std::size_t m_used = 1;
  std::array<Operation, most> m_latest;
  std::size_t m_number = 0;  ///< of the latest operation
  bool m_ended         = true;
};

}  // namespace KokkosHostSpaces::Impl

#endif
