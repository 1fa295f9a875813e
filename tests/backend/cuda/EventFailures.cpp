// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/Replays.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "../pool/PoolTest.hpp"

using Driver::EventState;
using Driver::Recorded;

TEST_CASE(
    "no such device is idle, nor is one without a context, and an old driver cannot record, but fence") {
  FakeCuda::reset(2, false);
  Driver::Event event = nullptr;
  Driver::Devices devices{};
  CHECK(Driver::devices_in_use(devices) == 0);
  for (int const device : {0, 2, -1})
    CHECK(Driver::record_all_work(device, event) == Recorded::idle);
  CHECK(Driver::fence_device(0));
  FakeCuda::use_old_driver();
  DeviceWork::use(1);
  CHECK(Driver::devices_in_use(devices) == 1);
  CHECK(devices[0] == 1);
  CHECK(Driver::record_all_work(1, event) == Recorded::unsupported);
  CHECK(event == nullptr);
  CHECK(Driver::fence_device(1));
}

TEST_CASE("a capture that cannot be seen still makes recording report a capture") {
  FakeCuda::reset(1);
  DeviceWork::Stream stream(DeviceWork::Stream::Kind::non_blocking);
  stream.begin_capture();
  Driver::Event event = nullptr;
  CHECK(Driver::record_all_work(0, event) == Recorded::capturing);
  stream.end_capture();
  Driver::release_event(event);
}

TEST_CASE("a capture counts as announced though the runtime could not be learnt then") {
  FakeCuda::reset(1);
  FakeCuda::fail_nth_call("*", 1);
  Driver::announce_capture();
  DeviceWork::Stream stream(DeviceWork::Stream::Kind::non_blocking);
  stream.begin_capture();
  Driver::Event event = nullptr;
  CHECK(Driver::record_all_work(0, event) == Recorded::capturing);
  CHECK(stream.end_capture());
  Driver::end_announced_capture();
  CHECK(Driver::record_all_work(0, event) == Recorded::yes);

  Driver::announce_capture();
  stream.begin_capture();
  CHECK(Driver::record_all_work(0, event) == Recorded::capturing);
  CHECK(stream.end_capture());
  Driver::end_announced_capture();
  Driver::release_event(event);
}

TEST_CASE("a failed query or wait is told") {
  FakeCuda::reset(1);
  Driver::Event event = nullptr;
  REQUIRE(Driver::record_all_work(0, event) == Recorded::yes);
  FakeCuda::fail_nth_call("cuEventQuery", 1, cudaErrorUnknown);
  CHECK(Driver::query(event) == EventState::failed);
  FakeCuda::fail_nth_call("cuEventQuery", 1, cudaErrorStreamCaptureUnsupported);
  CHECK(Driver::query(event) == EventState::capturing);
  FakeCuda::fail_nth_call("cuEventSynchronize", 1, cudaErrorUnknown);
  CHECK_FALSE(Driver::wait(event));
  FakeCuda::fail_nth_call("cuCtxSynchronize", 1, cudaErrorUnknown);
  CHECK_FALSE(Driver::fence_device(0));
  Driver::release_event(event);
}

TEST_CASE("after the runtime has shut down there is nothing to wait for") {
  FakeCuda::reset(1);
  Driver::Event event = nullptr;
  REQUIRE(Driver::record_all_work(0, event) == Recorded::yes);
  int memory = 0;
  FakeCuda::shut_down();
  Driver::Devices devices{};
  CHECK(Driver::devices_in_use(devices) == 0);
  CHECK(Driver::query(event) == EventState::done);
  CHECK(Driver::wait(event));
  CHECK(Driver::record_all_work(0, event) == Recorded::idle);
  CHECK(Driver::fence_device(0));
  CHECK_FALSE(Driver::unlock_pages(&memory, 4));
  CHECK_FALSE(Driver::free_pinned(&memory));
  CHECK_FALSE(is_locked(&memory));
  CHECK_THROWS_AS(Driver::lock_pages(&memory, 4), DeviceError);
  Driver::release_event(event);
}

TEST_CASE("a runtime without devices is asked once") {
  FakeCuda::reset(1);
  FakeCuda::fail_nth_call("cudaGetDeviceCount", 1, cudaErrorNoDevice);
  CHECK(Driver::device_count() == 0);
  CHECK(Driver::device_count() == 0);
  FakeCuda::reset(1);
}

TEST_CASE(
    "failure 9: whichever call fails while a capture takes memory, nothing is lost and it works again") {
  FakeCuda::reset(1);
  DeviceWork::Stream stream;
  std::size_t releases = 0;
  auto const give      = [&] {
    Driver::retain_in_capture(stream.get(), &releases,
                                   [](void* count) { ++*static_cast<std::size_t*>(count); });
  };
  std::string const call =
      GENERATE("cudaUserObjectCreate", "cudaStreamGetCaptureInfo", "cudaGraphRetainUserObject");
  stream.begin_capture();
  FakeCuda::fail_nth_call(call, 1, cudaErrorMemoryAllocation);
  CHECK_THROWS_AS(give(), DeviceError);
  CHECK(releases == 1);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(FakeCuda::nothing_leaked());
  give();
  CHECK(releases == 1);
  CHECK(stream.end_capture());
  CHECK(releases == 2);
  CHECK_THROWS_AS(give(), DeviceError);  // nothing captures
  CHECK(releases == 3);
}

TEST_CASE("where the driver fails to tell whether a stream captures, nothing is given to a graph") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  char* const memory = PoolTest::allocate(1000);
  stream.begin_capture();
  FakeCuda::fail_nth_call("cuStreamIsCapturing", 1, cudaErrorUnknown);
  CHECK_THROWS_AS(retain_for_graph(stream.get(), memory, memory), DeviceError);
  retain_for_graph(stream.get(), memory, memory);
  CHECK(stream.end_capture());
  Pool::deallocate(memory);
  CHECK(PoolTest::usage().bytes_in_use == 0);
  FakeCuda::shut_down();
  retain_for_graph(stream.get(), memory, memory);  // no graph can be made any more
}
