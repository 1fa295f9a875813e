// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A queue of copies that lets others have their turns. A GPU stays with a stream as long as that has
// copies that may begin: on one stream, all copies of a loop run before another loop gets the link.
// So after some bytes the queue goes on in another stream, which waits for the first one: for a
// moment (3 to 5 us on an H200) neither has a copy that may begin, and the GPU takes another stream
// that has. All wait for what was enqueued before them, so there is no deadlock, whatever streams
// share: a GPU has few queues for copies (with three streams a loop, two loops did not have their
// turns, unless CUDA_DEVICE_MAX_CONNECTIONS was raised).

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_TURNS_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_TURNS_HPP

#include <array>
#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// Works in the order of the calls, as one stream does.
class StreamTurns {
 public:
  explicit StreamTurns(int device) : m_device(device) {}
  ~StreamTurns();
  StreamTurns(StreamTurns const&)            = delete;
  StreamTurns& operator=(StreamTurns const&) = delete;

  /// Begins a loop, behind an event. \param turn bytes after which others have their turns
  void start(void* behind, std::size_t turn);

  void copy(void* dst, void const* src, std::size_t bytes);
  /// What follows waits for an event.
  void wait(void* event);
  /// Records what was enqueued so far.
  void record(void*& event);

  /// Until all is done; errors are not told.
  void drain() noexcept;

 private:
  void* stream() const { return m_streams[m_at]; }
  void give_way();

  int m_device;
  std::array<void*, 2> m_streams{};
  std::size_t m_at   = 0;  ///< the stream that is used
  std::size_t m_turn = 0, m_copied = 0;
  void* m_turned = nullptr;  ///< an event: recorded at the end of a turn
};

}  // namespace KokkosHostSpaces::Impl

#endif
