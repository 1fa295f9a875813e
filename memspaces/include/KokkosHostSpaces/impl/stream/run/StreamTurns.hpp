// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A queue of copies that lets others have their turns. A GPU stays with a stream as long as that has
// copies that may begin: on one stream, all copies of a loop run before another loop gets the link.
// So after some bytes the queue goes on in another stream, which waits for the first one, and the GPU
// takes the next stream that has a copy which may begin. Were there none, the link would be idle for
// some microseconds until the wait is over: so the other stream waits for all of a turn but its last
// copy. All wait for what was enqueued before them, so there is no deadlock, whatever streams share:
// a GPU has few queues for copies (with three streams a loop, two loops did not have their turns,
// unless CUDA_DEVICE_MAX_CONNECTIONS was raised).

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_TURNS_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_TURNS_HPP

#include <array>
#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// Copies come after the waits before them, and events after the copies before them, as in one
/// stream; but the last copy of a turn and the first one of the next may run at the same time.
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
  void join();  ///< What follows comes after all of the turn before.

  int m_device;
  std::array<void*, 2> m_streams{};
  std::size_t m_at   = 0;  ///< the stream that is used
  std::size_t m_turn = 0, m_copied = 0;
  bool m_marked  = false;    ///< m_turned was recorded in this turn, before its last copy
  bool m_joins   = false;    ///< m_left is still to be waited for
  void* m_turned = nullptr;  ///< an event: behind a turn, or all but its last copy
  void* m_left   = nullptr;  ///< an event: behind that copy
};

}  // namespace KokkosHostSpaces::Impl

#endif
