// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A CUDA stream of copies that yields the copy engine to other loops. A copy engine serves a stream
// as long as its next copy is ready: of two equal loops that start together, the second would wait
// until the first is done. Therefore, after some bytes, the copies continue in a second stream
// behind an event. The engine then serves the next stream that has a copy, or idles for some
// microseconds.

#ifndef KOKKOS_HOST_SPACES_IMPL_YIELDING_STREAM_HPP
#define KOKKOS_HOST_SPACES_IMPL_YIELDING_STREAM_HPP

#include <array>
#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// Works in the order of the calls, as one stream does.
class YieldingStream {
 public:
  explicit YieldingStream(int device) : m_device(device) {}
  ~YieldingStream();
  YieldingStream(YieldingStream const&)            = delete;
  YieldingStream& operator=(YieldingStream const&) = delete;

  /// Begins a loop, behind an event.
  /// \param yields_after bytes between two changes of the stream
  void begin(void* behind, std::size_t yields_after);
  void copy(void* dst, void const* src, std::size_t bytes);
  void wait(void* event);
  void record(void*& event);
  /// Waits until all work is done; ignores errors.
  void drain() noexcept;

 private:
  void* stream() const { return m_streams[m_current]; }

  int m_device;
  std::array<void*, 2> m_streams{};
  void* m_yielded            = nullptr;  // the event behind which the other stream goes on
  std::size_t m_current      = 0;
  std::size_t m_yields_after = 0, m_copied = 0;  // bytes
};

}  // namespace KokkosHostSpaces::Impl

#endif
