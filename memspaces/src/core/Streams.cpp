// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/CaptureGuard.hpp>
#include <KokkosHostSpaces/impl/core/Replays.hpp>
#include <KokkosHostSpaces/impl/core/Streams.hpp>

#include "../../../backend/Config.hpp"
#include "../../../backend/Driver.hpp"
#include "../../../backend/Replays.hpp"
#include "../../../backend/guard/Guard.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

int device_of(void const* a, void const* b) {
  int const device = Driver::device_of(a);
  return device >= 0 ? device : Driver::device_of(b);
}

StreamHandle private_stream(int device) { return Driver::private_stream(device); }

StreamHandle make_stream(int device) { return Driver::make_stream(device); }

void copy_async(void* dst, void const* src, std::size_t bytes, StreamHandle stream) {
  if (bytes > 0) Driver::copy(dst, src, bytes, stream);
}

void copy_and_wait(void* dst, void const* src, std::size_t bytes) {
  Driver::Stream const stream = Driver::private_stream(device_of(dst, src));
  //~ failure 20a
  copy_async(dst, src, bytes, stream);
  Driver::fence(stream);
}

void fence(StreamHandle stream) { Driver::fence(stream); }

void prepare_launch(int device) { Driver::require_device(device); }

void check_launch() { Driver::check_enqueued(); }

bool is_captured(StreamHandle stream) { return Driver::captures(stream); }

StreamMark::StreamMark(StreamHandle stream, int device) { Driver::record(m_event, stream, device); }

StreamMark::~StreamMark() {
  if (m_event != nullptr) Driver::release_event(m_event);
}

bool StreamMark::is_passed() const {
  if (m_event == nullptr) return true;
  Driver::EventState const state = Driver::query(m_event);
  if (state == Driver::EventState::failed)
    throw DeviceError(
        "the device failed in work of a stream (or in earlier work): compute-sanitizer finds the "
        "error",
        -1);
  return state == Driver::EventState::done;
}

ScopedDevice::ScopedDevice(StreamHandle stream, int device) noexcept {
  if (!Driver::is_default_stream(stream)) return;
  int const current = Driver::current_device();
  if (current == device) return;
  Driver::use_device(device);
  m_before = current;
}

ScopedDevice::~ScopedDevice() {
  if (m_before >= 0) Driver::use_device(m_before);
}

bool sends_unbuffered() { return Backend::config().unbuffered; }

bool guards_copies() { return Backend::Guard::is_on(); }

void guard_copy(CopySide const& dst, CopySide const& src, void* stream) {
  Backend::Guard::watch({dst.begin, dst.bytes, dst.label}, {src.begin, src.bytes, src.label},
                        stream);
}

std::size_t races_found() noexcept { return Backend::Guard::races(); }

// --- captures ---

void retain_for_graph(void* stream, void const* a, void const* b) {
  Backend::retain_for_graph(stream, a, b);
}

std::shared_ptr<void const> own_replayed_memory(std::function<void()> const& capture) {
  auto memory = std::make_shared<Backend::RetainedMemory>();
  Backend::ScopedRetention const by(*memory);
  capture();
  return memory;
}

}  // namespace KokkosHostSpaces::Impl

namespace KokkosHostSpaces::pool {

CaptureGuard::CaptureGuard() noexcept { Impl::Backend::Driver::announce_capture(); }
CaptureGuard::~CaptureGuard() { Impl::Backend::Driver::end_announced_capture(); }

}  // namespace KokkosHostSpaces::pool
