// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The only place that records events: over all work of a device, by the driver API, which leaves the
// pending error of the application's runtime calls alone and does not create contexts; and over the
// work of a stream. What would break captures asks for them here.

#include "Runtime.hpp"

#include <atomic>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// No member of Runtime, because captures may be announced before the runtime is known.
std::atomic<int> announced_captures{0};

bool says_capture(CUresult result) noexcept {
  return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT;
}

// Marks a call under way that would break a capture. Construct it before you look for captures: an
// announcement is then either seen, or waits for the call.
class BreaksCaptures {
 public:
  explicit BreaksCaptures(Runtime& runtime, bool does = true) noexcept
      : m_count(runtime.breaking_captures), m_calls(does ? 1 : 0) {
    m_count += m_calls;
  }
  ~BreaksCaptures() {
    if (m_calls > 0 && (m_count -= m_calls) == 0) m_count.notify_all();
  }
  BreaksCaptures(BreaksCaptures const&)            = delete;
  BreaksCaptures& operator=(BreaksCaptures const&) = delete;

 private:
  std::atomic<int>& m_count;
  int const m_calls;
};

CUevent handle_of(Event event) { return static_cast<CUevent>(event); }

Recorded recorded(CUresult result) noexcept {
  if (result == CUDA_SUCCESS) return Recorded::yes;
  if (result == CUDA_ERROR_DEINITIALIZED) return Recorded::idle;
  if (result == CUDA_ERROR_NOT_SUPPORTED) return Recorded::unsupported;
  return says_capture(result) ? Recorded::capturing : Recorded::failed;
}

// `yes` if no capture is known. The status of the legacy stream of the current context tells whether
// any blocking stream captures, and breaks no capture. On an error do not record.
Recorded may_record(Runtime& r) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (announced_captures.load() > 0) return Recorded::capturing;
  //~ failure 11
  return recorded(r.stream_is_capturing(CU_STREAM_LEGACY, &status));
}

// Makes the event if there is none.
CUresult make(Runtime& r, Event& event, unsigned flags = CU_EVENT_DISABLE_TIMING) noexcept {
  CUevent made          = handle_of(event);
  CUresult const result = made == nullptr ? r.create_event(&made, flags) : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS) event = made;
  return result;
}

enum class Captures { may_break, are_spared };

// Work on the legacy default stream breaks captures of blocking streams; on others, of no stream.
bool record_work_of(Stream stream, int device, Event& event, Captures captures,
                    unsigned flags = CU_EVENT_DISABLE_TIMING) {
  Runtime& r = require_runtime();
  ContextOfDevice const context(r, device);
  bool const is_legacy = stream == nullptr || stream == cudaStreamLegacy;
  BreaksCaptures const noticed(r, is_legacy);
  if (captures == Captures::are_spared &&
      (is_legacy ? may_record(r) != Recorded::yes : is_capturing(stream)))
    return false;
  if (make(r, event, flags) != CUDA_SUCCESS)
    check(cudaErrorMemoryAllocation, "cuEventCreate", look_for_failed_work);
  check(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)),
        "cudaEventRecord", look_for_failed_work);
  return true;
}

}  // namespace

void record(Event& event, Stream stream, int device, bool timed) {
  record_work_of(stream, device, event, Captures::may_break,
                 timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
}

std::optional<double> seconds_between(Event begin, Event end) noexcept {
  Runtime* const r = runtime_with_handles();
  float passed     = 0;  // milliseconds
  // Otherwise tools would report an error of the call below.
  if (r == nullptr || query(begin) != EventState::done || query(end) != EventState::done)
    return std::nullopt;
  ContextInUse const context(*r);
  CaptureTolerance const tolerance(*r);
  if (!succeeded(cudaEventElapsedTime(&passed, static_cast<cudaEvent_t>(begin),
                                      static_cast<cudaEvent_t>(end))))
    return std::nullopt;
  return double(passed) / 1000;
}

bool record_beside_captures(Event& event, Stream stream, int device) {
  return record_work_of(stream, device, event, Captures::are_spared);
}

Recorded record_all_work(int device, Event& event) noexcept {
  Runtime* const r  = runtime();
  CUcontext context = nullptr;
  //~ failure 5
  auto const state = r != nullptr ? r->context_of(device, context) : Runtime::Context::none;
  if (state == Runtime::Context::none) return Recorded::idle;
  if (state == Runtime::Context::unknown) return Recorded::failed;
  if (r->record_context_event == nullptr) return Recorded::unsupported;
  r->recording_has_looked.store(false, std::memory_order_relaxed);
  ContextScope const scope(*r, context);
  if (!scope.pushed()) return Recorded::failed;
  BreaksCaptures const noticed(*r);
  //~ recorded capture
  if (Recorded const may = may_record(*r); may != Recorded::yes) return may;
  CaptureTolerance const tolerance(*r);
  if (CUresult const made = make(*r, event); made != CUDA_SUCCESS) return recorded(made);
  //~ failure 4
  Recorded const told = recorded(r->record_context_event(context, handle_of(event)));
  r->recording_has_looked.store(told == Recorded::yes, std::memory_order_relaxed);
  return told;
}

EventState query(Event event) noexcept {
  Runtime* const r = runtime_with_handles_seen_lately();
  if (r == nullptr) return EventState::done;
  //~ failure 7
  CaptureTolerance const tolerance(*r);
  CUresult const result = r->query_event(handle_of(event));
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED) return EventState::done;
  if (result == CUDA_ERROR_NOT_READY) return EventState::pending;
  return says_capture(result) ? EventState::capturing : EventState::failed;
}

bool wait(Event event) noexcept {
  Runtime* const r = runtime_with_handles();
  if (r == nullptr) return true;
  CaptureTolerance const tolerance(*r);
  //~ failure 1a
  CUresult const result = r->synchronize_event(handle_of(event));
  return result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED;
}

void release_event(Event event) noexcept {
  Runtime* const r = runtime_with_handles();
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
  // Wait for the calls that looked for captures before the announcement.
  for (int count; (count = r->breaking_captures.load()) > 0;) r->breaking_captures.wait(count);
}

void end_announced_capture() noexcept { --announced_captures; }

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
