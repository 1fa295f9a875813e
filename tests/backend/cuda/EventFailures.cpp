// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/Replays.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "../pool/PoolTest.hpp"

using Driver::Recorded;

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
