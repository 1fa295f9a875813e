// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../support/DeviceWork.hpp"
#include "../../support/WatchedThread.hpp"
#include "../BackendTest.hpp"

using Driver::EventState;
using Driver::Recorded;
using Kind = DeviceWork::Stream::Kind;

namespace {

struct OwnedEvent {
  Driver::Event event = nullptr;
  ~OwnedEvent() { Driver::release_event(event); }
};

}  // namespace

TEST_CASE("failure 4: an event waits for the work of every stream") {
  start_test(1);
  auto const kind = GENERATE(Kind::blocking, Kind::non_blocking);
  for (std::size_t held = 0; held < 3; ++held) {
    CAPTURE(held);
    std::array<DeviceWork::Stream, 3> streams{DeviceWork::Stream(kind), DeviceWork::Stream(kind),
                                              DeviceWork::Stream(kind)};
    DeviceWork::Gate gate;
    streams[held].run(gate.hold());
    OwnedEvent owned;
    REQUIRE(Driver::record_all_work(0, owned.event) == Recorded::yes);
    CHECK(Driver::query(owned.event) == EventState::pending);
    gate.open();
    CHECK(Driver::wait(owned.event));
    CHECK(Driver::query(owned.event) == EventState::done);
  }
}

TEST_CASE(
    "failure 1: later work does not delay an event, and recording again makes it wait for that") {
  start_test(1);
  DeviceWork::Stream early, late;
  DeviceWork::Gate early_gate, late_gate;
  early.run(early_gate.hold());
  OwnedEvent owned;
  REQUIRE(Driver::record_all_work(0, owned.event) == Recorded::yes);
  late.run(late_gate.hold());
  early_gate.open();
  CHECK(Driver::wait(owned.event));

  Driver::Event const before = owned.event;
  REQUIRE(Driver::record_all_work(0, owned.event) == Recorded::yes);
  CHECK(owned.event == before);
  CHECK(Driver::query(owned.event) == EventState::pending);
  late_gate.open();
  CHECK(Driver::wait(owned.event));
}

TEST_CASE("memory can be locked, copied and given back while a stream captures") {
  start_test(1);
  alignas(4096) static std::array<char, 8192> memory{};
  Driver::Stream const copies = Driver::private_stream();
  DeviceWork::Stream stream(GENERATE(Kind::blocking, Kind::non_blocking));
  stream.begin_capture(cudaStreamCaptureModeGlobal);
  Driver::lock_pages(memory.data(), memory.size());
  void* const pinned = Driver::allocate_pinned(4096, MemoryKind::write_combined);
  CHECK(pinned != nullptr);
  Driver::copy(pinned, memory.data(), 4096, copies);
  Driver::fence(copies);
  CHECK(Driver::free_pinned(pinned));
  CHECK(Driver::unlock_pages(memory.data(), memory.size()));
  CHECK(stream.end_capture());
}

TEST_CASE("retirement leaves the application's pending error alone") {
  start_test(1);
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  OwnedEvent owned;
  CHECK(cudaSetDevice(-1) != cudaSuccess);
  cudaError_t const of_application = cudaPeekAtLastError();
  CHECK(of_application != cudaSuccess);
  CHECK(Driver::record_all_work(0, owned.event) == Recorded::yes);
  CHECK(Driver::query(owned.event) == EventState::pending);
  CHECK(cudaPeekAtLastError() == of_application);
  cudaGetLastError();
}

TEST_CASE("what breaks captures waits for nobody, and a capture that is announced waits for it") {
  start_test(1);
  static std::atomic<int> done{0};
  static std::atomic<bool> announced{false};
  static std::optional<WatchedThread> other;
  static bool began_meanwhile = false;
  done                        = 0;
  announced = began_meanwhile = false;
  auto const work             = [] {
    ++done;
    other.emplace([] {
      Driver::announce_capture();
      announced = true;
    });
    other->wait_until_asleep();
    began_meanwhile = announced;
  };
  DeviceWork::Stream stream(Kind::blocking);
  {
    DeviceWork::Gate gate;
    stream.run(gate.hold());
    CHECK_FALSE(Driver::do_if_idle(0, work));
  }
  stream.wait();
  stream.begin_capture();
  CHECK_FALSE(Driver::do_if_idle(0, work));
  CHECK(stream.end_capture());
  CHECK(done == 0);
  REQUIRE(Driver::do_if_idle(0, work));
  other->join();
  CHECK(announced);
  CHECK_FALSE(began_meanwhile);
  CHECK_FALSE(Driver::do_if_idle(0, work));
  CHECK(done == 1);
  Driver::end_announced_capture();
}

// So that the fake runtime catches what a device would.
TEST_CASE("calls break the captures that they break on a device, and no others") {
  start_test(1);
  auto const kind = GENERATE(Kind::blocking, Kind::non_blocking);
  auto const mode = GENERATE(cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                             cudaStreamCaptureModeRelaxed);
  DeviceWork::Stream other;
  OwnedEvent idle;
  REQUIRE(Driver::record_all_work(0, idle.event) == Recorded::yes);
  void* memory = nullptr;
  DeviceWork::require(cudaMalloc(&memory, 64), "cudaMalloc");
  cudaError_t const none = cudaSuccess;
  cudaError_t const unsafe =
      mode == cudaStreamCaptureModeRelaxed ? none : cudaErrorStreamCaptureUnsupported;
  cudaError_t const conflict = cudaErrorStreamCaptureUnsupported;
  bool const is_blocking     = kind == Kind::blocking;
  auto const breaks          = [&](char const* name, cudaError_t expected, auto const& call) {
    INFO(name << ", blocking: " << is_blocking << ", mode " << int(mode));
    DeviceWork::Stream stream(kind);
    stream.begin_capture(mode);
    cudaError_t const error = call(stream.get());
    static_cast<void>(cudaGetLastError());
    CHECK(int(error) == int(expected));
    CHECK(stream.end_capture() == (expected == none));
  };
  auto const legacy = is_blocking ? cudaErrorStreamCaptureImplicit : none;
  breaks("copy on the legacy stream", legacy, [&](cudaStream_t) {
    return cudaMemcpyAsync(memory, static_cast<char*>(memory) + 32, 32, cudaMemcpyDefault, nullptr);
  });
  breaks("event of the legacy stream", legacy, [&](cudaStream_t) {
    return cudaEventRecord(static_cast<cudaEvent_t>(idle.event), nullptr);
  });
  breaks("waiting for the legacy stream", is_blocking ? legacy : unsafe,
         [](cudaStream_t) { return cudaStreamSynchronize(nullptr); });
  breaks("waiting for another stream", unsafe,
         [&](cudaStream_t) { return cudaStreamSynchronize(other.get()); });
  breaks("asking for another stream", unsafe,
         [&](cudaStream_t) { return cudaStreamQuery(other.get()); });
  breaks("event of another stream", none, [&](cudaStream_t) {
    return cudaEventRecord(static_cast<cudaEvent_t>(idle.event), other.get());
  });
  breaks("waiting for the captured stream", conflict, cudaStreamSynchronize);
  breaks("asking for the captured stream", conflict, cudaStreamQuery);
  breaks("waiting for the device", conflict, [](cudaStream_t) { return cudaDeviceSynchronize(); });
  breaks("event from outside", cudaErrorStreamCaptureIsolation, [&](cudaStream_t stream) {
    return cudaStreamWaitEvent(stream, static_cast<cudaEvent_t>(idle.event), 0);
  });
  DeviceWork::require(cudaFree(memory), "cudaFree");
}
