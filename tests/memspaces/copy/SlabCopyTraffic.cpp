// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies by slabs in both directions by several threads, on several devices, beside captures, and
// with errors behind copies that went well.

#include "../../../backend/Error.hpp"
#include "../../support/Sanitized.hpp"
#include "TurnedArrays.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace SlabCopyTests {

namespace {

constexpr LinkWay in = LinkWay::to_device, out = LinkWay::to_host;

Extents shape_of(std::mt19937& random) {
  return {1 + random() % 6, 2 + random() % 12, 20 + random() % 60};
}

Extents order_of(std::mt19937& random) {
  Extents order{0, 1, 2};
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// Turns arrays on a stream, some at once, and breaks no capture by waiting. Returns how many are
// wrong.
int turn_arrays(SlabCopies& copies, DeviceWork::Stream& stream, unsigned seed,
                std::atomic<int>& by_slabs) {
  std::mt19937 random(seed);
  int wrong = 0;
  for (int round = 0; round < 40; ++round) {
    std::deque<Turned> arrays;
    for (auto n = 1 + random() % 3; n > 0; --n)
      arrays.emplace_back(shape_of(random), order_of(random), random() % 2 == 0 ? in : out);
    for (Turned& array : arrays) {
      if (array.enqueue(copies, stream))
        ++by_slabs;
      else
        stream.run([&] {
          copy_loops(array.plan, array.plan.loops - 1, array.target.data(), array.source.data());
        });
    }
    Backend::Driver::fence(stream.get());
    for (Turned const& array : arrays) wrong += array.target != array.expected;
  }
  return wrong;
}

}  // namespace

TEST_CASE("threads turn arrays in both directions while memory is given back and others capture",
          "[slabs]") {
  FakeCuda::reset();
  SlabCopies copies(limits);
  std::atomic<int> wrong = 0, by_slabs = 0, running = 3;
  DeviceWork::Stream streams[3], captured;
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < 3; ++n)
    threads.emplace_back([&, n] {
      wrong += turn_arrays(copies, streams[n], n + 1, by_slabs);
      --running;
    });
  int broken = 0;
  while (running > 0) {
    captured.begin_capture();
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    broken += !captured.end_capture();
    copies.release();
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(broken == 0);
  CHECK(by_slabs > 20);
  copies.release();
  CHECK(FakeCuda::nothing_leaked());
}

TEST_CASE("an error spoils no copy that was enqueued before, and breaks no capture", "[slabs]") {
  auto const first_way = GENERATE(in, out), way = GENERATE(in, out);
  bool const one_stream = GENERATE(true, false);
  int told              = 0;
  for (char const* const function : {"cudaEventRecord", "cudaStreamWaitEvent", "cudaMemcpyAsync"})
    for (std::size_t call = one_stream ? 1 : 2; call < 20; call += sanitized ? 4 : 2) {
      FakeCuda::reset();
      SlabCopies copies(limits);
      Turned first({10, 500}, {1, 0}, first_way), array({10, 500}, {1, 0}, way);
      DeviceWork::Stream stream, other, captured;
      DeviceWork::Stream& on = one_stream ? stream : other;
      REQUIRE(first.enqueue(copies, stream));
      if (!one_stream) stream.wait();
      captured.begin_capture();
      FakeCuda::fail_nth_call(function, call, cudaErrorLaunchFailure);
      try {
        array.enqueue(copies, on);
      } catch (KokkosHostSpaces::CudaError const&) {
        ++told;
        CHECK((!one_stream || first.target == first.expected));
        std::vector<char> const after = array.target;
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        CHECK(array.target == after);
      }
      FakeCuda::fail_no_more();
      CHECK(captured.end_capture());
      REQUIRE(array.enqueue(copies, on));
      on.wait();
      CHECK((array.target == array.expected && first.target == first.expected));
      copies.release();
      auto const left = FakeCuda::outstanding();
      CHECK((left.device_allocations == 0 && left.events == 0 && left.streams == 3));
    }
  CHECK(told > 10);
}

TEST_CASE("arrays are turned on the device of their stream, whichever is current", "[slabs]") {
  FakeCuda::reset(2);
  SlabCopies copies(limits);
  auto const use = [](int device) { DeviceWork::require(cudaSetDevice(device), "cudaSetDevice"); };
  use(0);
  DeviceWork::Stream on_first;
  use(1);
  DeviceWork::Stream on_second;
  DeviceWork::Gate gate;
  on_first.run(gate.hold());
  Turned held({10, 500}, {1, 0}, GENERATE(in, out)), array({10, 500}, {1, 0}, GENERATE(in, out));
  REQUIRE(held.enqueue(copies, on_first, 0));
  int current = -1;
  DeviceWork::require(cudaGetDevice(&current), "cudaGetDevice");
  CHECK(current == 1);
  use(0);
  REQUIRE(array.enqueue(copies, on_second, 1));
  DeviceWork::require(cudaGetDevice(&current), "cudaGetDevice");
  CHECK(current == 0);
  on_second.wait();
  CHECK(array.target == array.expected);
  CHECK(FakeCuda::outstanding().device_allocations == 2);
  gate.open();
  on_first.wait();
  CHECK(held.target == held.expected);
}

}  // namespace SlabCopyTests
