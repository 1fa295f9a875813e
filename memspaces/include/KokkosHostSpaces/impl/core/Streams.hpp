// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streams, their devices, and copies of bytes, without the types of a runtime.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMS_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMS_HPP

#include <cstddef>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// A stream of the device, as a cudaStream_t; nullptr is the legacy default stream.
using StreamHandle = void*;

/// Returns the device that owns one of two addresses; -1 if both are the host's.
int device_of(void const* a, void const* b);

/// Returns the library's stream of a device (-1: the current one) for copies that the host waits
/// for. It does not synchronise with the legacy default stream.
StreamHandle private_stream(int device);

/// Makes a further stream of that kind. The caller owns it.
StreamHandle make_stream(int device);

/// Enqueues a copy of bytes in any direction on `stream` and returns.
void copy_async(void* dst, void const* src, std::size_t bytes, StreamHandle stream);

/// Copies bytes in any direction on the private stream of the device that owns one side, and waits
/// for this copy alone.
void copy_and_wait(void* dst, void const* src, std::size_t bytes);

/// Waits for the work of `stream`. Unlike a fence of Kokkos, safe while another thread captures.
void fence(StreamHandle stream);

/// Makes `device` current in the calling thread, for a launch of a kernel. Takes 20 ns if it is.
void prepare_launch(int device);

/// \throw DeviceError if the launch before it failed
void check_launch();

/// True if `stream` captures into a graph. \throw DeviceError if the driver fails to tell
bool is_captured(StreamHandle stream);

/// The work that a stream has had when the mark was made.
class StreamMark {
 public:
  /// No work.
  StreamMark() = default;
  /// \throw DeviceError
  StreamMark(StreamHandle stream, int device);
  StreamMark(StreamMark&& other) noexcept : m_event(std::exchange(other.m_event, nullptr)) {}
  StreamMark& operator=(StreamMark&& other) noexcept {
    std::swap(m_event, other.m_event);
    return *this;
  }
  ~StreamMark();

  /// True if that work is done. Does not wait.
  /// \throw DeviceError if the device has failed
  bool is_passed() const;

 private:
  void* m_event = nullptr;
};

/// Makes `device` the current device for its lifetime if `stream` is a default stream, whose handle
/// means one of the current device. Does nothing for other streams.
class ScopedDevice {
 public:
  ScopedDevice(StreamHandle stream, int device) noexcept;
  ~ScopedDevice();
  ScopedDevice(ScopedDevice const&)            = delete;
  ScopedDevice& operator=(ScopedDevice const&) = delete;

 private:
  int m_before = -1;
};

// --- KOKKOS_HOST_SPACES_GUARD=on: the race guard watches copies on instances against host accesses ---

/// One side of a copy.
struct CopySide {
  void const* begin;
  std::size_t bytes;  ///< 0: the side has gaps and is not watched
  std::string label;
};

/// Returns true if KOKKOS_HOST_SPACES_UNBUFFERED is on.
bool sends_unbuffered();

/// Returns true if the guard is on.
bool guards_copies();

/// Watches a copy enqueued on `stream` (a cudaStream_t) until it is done: host code that touches
/// `dst` or writes into `src` is reported on stderr.
void guard_copy(CopySide const& dst, CopySide const& src, void* stream);

/// Number of races reported so far.
std::size_t races_found() noexcept;

}  // namespace KokkosHostSpaces::Impl

#endif
