// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Events over all work of a device. By the driver API: it leaves the pending error of the
// application's runtime calls alone, and does not make contexts.

#include "Runtime.hpp"

#include <atomic>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// Not the runtime's: captures may be announced before it can be learnt, and end after.
std::atomic<int> announced_captures{0};

bool says_capture(CUresult result) noexcept {
  return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT;
}

// While one lives, a call is under way that would break a capture. Made before captures are looked
// for, so that an announcement either is seen or waits.
class BreaksCaptures {
 public:
  explicit BreaksCaptures(Runtime& runtime) noexcept : m_count(runtime.breaking_captures) {
    ++m_count;
  }
  ~BreaksCaptures() {
    if (--m_count == 0) m_count.notify_all();
  }
  BreaksCaptures(BreaksCaptures const&)            = delete;
  BreaksCaptures& operator=(BreaksCaptures const&) = delete;

 private:
  std::atomic<int>& m_count;
};

CUevent handle_of(Event event) { return static_cast<CUevent>(event); }

Recorded recorded(CUresult result) noexcept {
  if (result == CUDA_SUCCESS) return Recorded::yes;
  if (result == CUDA_ERROR_DEINITIALIZED) return Recorded::idle;
  if (result == CUDA_ERROR_NOT_SUPPORTED) return Recorded::unsupported;
  return says_capture(result) ? Recorded::capturing : Recorded::failed;
}

// Does a stream capture, as far as can be known? The legacy stream of the current context answers
// for all blocking streams, without harm to their captures. Whoever gets no answer must not record.
Recorded may_record(Runtime& r) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (announced_captures.load() > 0) return Recorded::capturing;
  return recorded(r.stream_is_capturing(CU_STREAM_LEGACY, &status));
}

}  // namespace

int devices_in_use(Devices& out) noexcept {
  Runtime* const r = runtime();
  std::size_t used = 0;
  for (int device = 0; r != nullptr && device < r->devices; ++device) {
    CUcontext context = nullptr;
    if (r->context_of(device, context) != Runtime::Context::none) out[used++] = device;
  }
  return static_cast<int>(used);
}

Recorded record_all_work(int device, Event& event) noexcept {
  Runtime* const r  = runtime();
  CUcontext context = nullptr;
  auto const state  = r != nullptr ? r->context_of(device, context) : Runtime::Context::none;
  if (state == Runtime::Context::none) return Recorded::idle;
  if (state == Runtime::Context::unknown) return Recorded::failed;
  if (r->record_context_event == nullptr) return Recorded::unsupported;
  ContextScope const scope(*r, context);
  if (!scope.pushed()) return Recorded::failed;
  BreaksCaptures const noticed(*r);
  if (Recorded const may = may_record(*r); may != Recorded::yes) return may;
  CaptureTolerance const tolerance(*r);
  if (event == nullptr) {
    CUevent made          = nullptr;
    CUresult const result = r->create_event(&made, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS) return recorded(result);
    event = made;
  }
  return recorded(r->record_context_event(context, handle_of(event)));
}

EventState query(Event event) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr) return EventState::done;
  CaptureTolerance const tolerance(*r);
  CUresult const result = r->query_event(handle_of(event));
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED) return EventState::done;
  if (result == CUDA_ERROR_NOT_READY) return EventState::pending;
  return says_capture(result) ? EventState::capturing : EventState::failed;
}

bool wait(Event event) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr) return true;
  CaptureTolerance const tolerance(*r);
  CUresult const result = r->synchronize_event(handle_of(event));
  return result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED;
}

void release_event(Event event) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr || event == nullptr) return;
  CaptureTolerance const tolerance(*r);
  r->destroy_event(handle_of(event));
}

bool fence_device(int device) noexcept {
  Runtime* const r  = runtime();
  CUcontext context = nullptr;
  auto const state  = r != nullptr ? r->context_of(device, context) : Runtime::Context::none;
  if (state != Runtime::Context::in_use) return state == Runtime::Context::none;
  ContextScope const scope(*r, context);
  BreaksCaptures const noticed(*r);
  if (!scope.pushed()) return false;
  if (Recorded const may = may_record(*r); may != Recorded::yes) return may == Recorded::idle;
  CaptureTolerance const tolerance(*r);
  CUresult const result = r->synchronize_context();
  return result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED;
}

bool do_if_idle(int device, void (*work)()) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr) return false;
  BreaksCaptures const noticed(*r);
  Event event = nullptr;
  bool const idle =
      record_all_work(device, event) == Recorded::yes && query(event) == EventState::done;
  release_event(event);
  if (!idle) return false;
  CaptureTolerance const tolerance(*r);
  work();
  return true;
}

void announce_capture() noexcept {
  ++announced_captures;
  Runtime* const r = runtime();
  if (r == nullptr) return;
  // Whoever looked before sees the capture that begins now as little as it does him.
  for (int count; (count = r->breaking_captures.load()) > 0;) r->breaking_captures.wait(count);
}

void end_announced_capture() noexcept { --announced_captures; }

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
