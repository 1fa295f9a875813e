// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A queue of copies that lets others have their turn. A device serves a stream as long as this has
// copies that may begin: on one stream, all copies of a loop would run before another loop gets the
// link. So the copies go round on three streams, each waits for the last but one before it, and a
// stream that has done its copy has nothing that may begin: the device looks at the others. One copy
// of the loop is ready at any time, so that the link does not wait. As all streams wait for what was
// enqueued before alone, there is no deadlock, whatever else they share.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_TURNS_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_TURNS_HPP

#include <array>
#include <cstddef>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Copies in the order of the calls, as on one stream: what is recorded is behind all before it.
class StreamTurns {
 public:
  explicit StreamTurns(int device) : m_device(device) {}
  ~StreamTurns();
  StreamTurns(StreamTurns const&)            = delete;
  StreamTurns& operator=(StreamTurns const&) = delete;

  /// Begins a loop, behind an event. \param gives_way else all is on one stream, which takes fewer calls
  void start(void* behind, bool gives_way);

  /// Around the copies of an operation, which go on `stream()`.
  void begin();
  void end();
  void* stream() const { return m_streams[m_operation % m_used]; }

  /// What follows waits for an event.
  void wait(void* event);
  /// Records what was enqueued so far, unless an operation has begun and not ended.
  void record(void*& event);

  /// Until all is done; errors are not told.
  void drain() noexcept;

 private:
  static constexpr std::size_t most = 3;

  void*& end_of(std::size_t operation) { return m_ends[operation % most]; }

  int m_device;
  std::vector<void*> m_streams;
  std::array<void*, most> m_ends = {};  // events: of the last operations
  std::size_t m_used             = 1;   // streams
  std::size_t m_operation        = 0;   // the number of the latest one, from 1
};

}  // namespace KokkosHostSpaces::Impl

#endif
