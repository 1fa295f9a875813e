// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Failures of streamed loops on the fake CUDA runtime: each is reported once and leaves no work, no
// memory and no stream behind.

#include "StreamJobs.hpp"

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>

namespace StreamFailures {

using namespace StreamCases;
using KokkosHostSpaces::Impl::DeviceCopies;

namespace {

constexpr std::size_t plenty = std::size_t(1) << 30;

}  // namespace

TEST_CASE("a launch that throws ends the parts of all devices") {
  for (int devices : {1, 3}) {
    FakeCuda::reset(devices);
    {
      std::vector<int> used{0, 1, 2};
      used.resize(std::size_t(devices));
      OneArray shared(used);
      StreamResourcePool pool(allocate, plenty);
      auto const launch = shared.job.launch;
      shared.job.launch = [&](std::size_t target, StreamLaunch const& what) {
        if (shared.launches.size() == 5) throw std::runtime_error("the body failed");
        launch(target, what);
      };
      CHECK_THROWS_AS(run_stream(shared.job, pool), std::runtime_error);
      CHECK(pool.held() == 0);
    }
    CHECK(nothing_is_left());
  }
}

TEST_CASE("device memory that is kept for later loops is freed if a loop cannot have its own") {
  FakeDevices const devices;
  OneArray one({0});
  std::size_t left       = 4 * 512;  // of a device that others fill
  auto const give_back   = [&left](char*, std::size_t bytes) { left += bytes; };
  auto const of_the_rest = [&](int device, std::size_t bytes) {
    if (bytes > left) throw Error("no device memory (the test said so): nothing to be done");
    left -= bytes;
    auto const memory = allocate(device, bytes);
    return std::shared_ptr<char>(memory.get(),
                                 [memory, give_back, bytes](char* p) { give_back(p, bytes); });
  };
  StreamResourcePool pool(of_the_rest, plenty);
  pool.put_back(pool.take(0, 3 * 512));
  CHECK(pool.take(0, 4 * 512)->bytes == 4 * 512);
  CHECK_THROWS_AS(pool.take(0, 512), Error);  // all of it is in use
}

TEST_CASE("a loop that needs the memory of one that failed throws, and does not wait forever") {
  FakeDevices const devices;
  OneArray small({0}), large({0});
  large.job.options.chunk_rows = OneArray::rows / 2;
  StreamResourcePool pool(allocate, 1);
  run_stream(small.job, pool)->fence();
  FakeCuda::fail_every(1);  // as if a kernel had touched what it must not
  auto loop = std::async(std::launch::async, [&] { run_stream(large.job, pool); });
  CHECK(loop.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
  FakeCuda::fail_no_more();
  CHECK_THROWS_AS(loop.get(), Error);
  run_stream(large.job, pool)->fence();
}

TEST_CASE("a loop on an instance that captures is refused, and the capture goes on") {
  FakeDevices const devices(2);
  OneArray one({1, 0});
  StreamResourcePool pool(allocate, plenty);
  for (Transport const transport : {Transport::staged, Transport::zero_copy}) {
    one.job.transport = transport;
    one.streams[1]->begin_capture(cudaStreamCaptureModeRelaxed);
    CHECK_THROWS_MATCHES(run_stream(one.job, pool), Error,
                         MessageMatches(ContainsSubstring("outside of the capture")));
    CHECK(one.streams[1]->end_capture());
  }
  run_stream(one.job, pool)->fence();
  CHECK(one.launches.size() == 20);
}

TEST_CASE("memory that is page-locked in part is not taken for memory that kernels reach") {
  FakeCuda::reset();
  alignas(4096) static char memory[3 * 4096];
  Backend::Driver::lock_pages(memory, 4096);
  CHECK(is_reachable(memory, 4096));
  CHECK(is_reachable(memory, 0));
  CHECK_FALSE(is_reachable(memory, 4097));
  CHECK_FALSE(is_reachable(memory + 4095, 2));
  CHECK_FALSE(is_reachable(nullptr, 0));
  Backend::Driver::lock_pages(memory + 2 * 4096, 4096);
  CHECK_FALSE(is_reachable(memory, 3 * 4096));
  Backend::Driver::lock_pages(memory + 4096, 4096);
  CHECK(is_reachable(memory, 3 * 4096));
  for (int page = 0; page < 3; ++page) Backend::Driver::unlock_pages(memory + page * 4096, 4096);
}

TEST_CASE("a device's copy of a View has what work before it on the stream wrote there") {
  FakeDevices const devices;
  std::vector<int> table(100, 0);
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  DeviceCopies copies(allocate);
  stream.run(gate.hold());
  stream.run([&] { std::fill(table.begin(), table.end(), 7); });
  std::size_t const before = FakeCuda::calls("cudaMemcpyAsync");
  std::jthread const opener([&] {
    while (FakeCuda::calls("cudaMemcpyAsync") == before) std::this_thread::yield();
    gate.open();
  });
  void* const copy = copies.on_device(0, stream.get(), table.data(), sizeof(int) * 100);
  CHECK(std::memcmp(copy, table.data(), sizeof(int) * 100) == 0);
  CHECK(static_cast<int const*>(copy)[99] == 7);
  CHECK(copies.on_device(0, stream.get(), table.data(), sizeof(int) * 100) == copy);
}

}  // namespace StreamFailures
