// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Several devices share a streamed loop, or a reduction.

#include "StreamJobs.hpp"

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>
#include <KokkosHostSpaces/impl/core/ScopedDevice.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include <catch2/catch_test_macros.hpp>

using namespace StreamCases;
using KokkosHostSpaces::Impl::DeviceCopies;
using KokkosHostSpaces::Impl::ScopedDevice;

TEST_CASE("several devices share a loop, and read what was there before their neighbours write") {
  int wrong = 0;
  FakeCuda::reset(3);
  {
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    for (int seed = 0; seed < rounds(100); ++seed) {
      Case random(static_cast<unsigned>(seed));
      Locked const locked(random);
      DeviceWork::require(cudaSetDevice(1), "cudaSetDevice");
      DeviceWork::Stream second;
      DeviceWork::require(cudaSetDevice(2), "cudaSetDevice");
      DeviceWork::Stream third;
      DeviceWork::require(cudaSetDevice(0), "cudaSetDevice");
      DeviceWork::Stream first;
      auto const expected = random.expected();
      Streams const all =
          seed % 2 == 0 ? Streams{&first, &second} : Streams{&first, &second, &third};
      StreamJob job = job_of(random, all);
      if (!job.binding.in_place && seed % 5 == 0 && random.loops.size() == 1)
        job.transport = Transport::zero_copy;
      auto const loop = run_stream(job, lanes);
      loop->fence();
      if (random.arrays() != expected) UNSCOPED_INFO("seed " << seed);
      wrong += random.arrays() != expected;
    }
  }
  CHECK(wrong == 0);
  CHECK(nothing_is_left());
}

TEST_CASE("several devices share a reduction: each row is seen once, in the chunks of one device") {
  constexpr int rows = 1000;
  FakeCuda::reset(4);
  Array array(rows);
  for (int i = 0; i < rows; ++i) array[std::size_t(i)] = Number(i + 1);
  ArgumentFacts u;
  u.label         = "u";
  u.side          = Side::page_locked;
  u.data          = reinterpret_cast<char*>(array.data());
  u.element_bytes = sizeof(Number);
  u.extents[0]    = rows;
  LoopFacts loop;
  loop.upper[0]  = rows;
  loop.arguments = {u};
  Backend::Driver::lock_pages(array.data(), rows * sizeof(Number));
  {
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    std::vector<std::unique_ptr<DeviceWork::Stream>> streams(4);
    for (int device : {3, 2, 1, 0}) {  // the first one is current afterwards
      DeviceWork::require(cudaSetDevice(device), "cudaSetDevice");
      streams[std::size_t(device)] = std::make_unique<DeviceWork::Stream>();
    }
    std::vector<Number> sums(15);  // with any number of devices, whatever their rates
    for (int i = 0; i < rows; ++i) sums[std::size_t(i / 70)] += array[std::size_t(i)];
    for (int run = 0; run < 8; ++run) {
      Transport const transport = run % 2 == 0 ? Transport::staged : Transport::zero_copy;
      std::vector<Number> parts;
      StreamJob job;
      job.label             = "test";
      job.binding           = bind_stream("test", {loop});
      job.transport         = transport;
      job.wishes.chunk_rows = 70;
      job.wishes.memory     = std::size_t(1) << 20;
      job.rates             = [run](std::size_t t) {
        return LinkRates{.both = 1e9 * double(1 + t * std::size_t(run))};
      };
      job.prepare = [&](std::int64_t chunks) { parts.assign(std::size_t(chunks), 0); };
      for (int t = 0; t < 1 + run / 2; ++t)
        job.targets.push_back({t, streams[std::size_t(t)]->get()});
      job.launch = [&](std::size_t target, StreamLaunch const& launch) {
        streams[target]->run([&, launch, from = launch.first_rows[0]] {
          for (std::int64_t i = launch.begin; i < launch.end; ++i)
            parts[std::size_t(launch.chunk)] += reinterpret_cast<Number const*>(from)[i];
        });
      };
      run_stream(job, lanes)->fence();
      CAPTURE(run);
      CHECK(parts == sums);
    }
  }
  Backend::Driver::unlock_pages(array.data(), rows * sizeof(Number));
  CHECK(nothing_is_left());
}

TEST_CASE("devices that share a loop get their chunks in turn, so that none waits for another") {
  FakeCuda::reset(4);
  {
    OneArray shared({2, 0, 3, 1});
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    run_stream(shared.job, lanes)->fence();
    std::vector<OneArray::Launch> expected;
    for (std::int64_t chunk = 0; chunk < 5; ++chunk)
      for (std::size_t target : {1, 3, 0, 2})  // by their devices
        expected.push_back({target, chunk + 5 * std::int64_t(target)});
    CHECK(shared.launches == expected);
  }
  CHECK(nothing_is_left());
}

TEST_CASE("a device that has two parts of a loop takes its memory once") {
  FakeCuda::reset(2);
  {
    OneArray shared({1, 0, 1});
    StreamResourcePool lanes(allocate, 1);
    run_stream(shared.job, lanes)->fence();
    CHECK(shared.launches.size() == 21);              // seven of each third
    CHECK(lanes.held() == std::size_t(2 * 3 * 512));  // three slots on each device
  }
  CHECK(nothing_is_left());
}

TEST_CASE("of more devices than rows some have nothing to do, and nothing is said of them") {
  FakeCuda::reset(4);
  {
    OneArray shared({0, 1, 2, 3}, Access::update);
    StreamStage& stage = shared.job.binding.shape.stages[0];
    stage.begin        = 500;
    stage.end          = 502;
    shared.job.rates   = [](std::size_t t) { return LinkRates{.both = t < 2 ? 1e9 : 1.}; };
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    auto const run = run_stream(shared.job, lanes);
    run->fence();
    CHECK(shared.launches == std::vector<OneArray::Launch>{{0, 0}, {1, 1}});
    CHECK(run->chunks == 2);
    CHECK(run->chunk_rows == 1);
    CHECK(run->memory == lanes.held());
  }
  CHECK(nothing_is_left());
}

namespace {

// Runs a function on the default stream of device 1, and goes back to device 0.
void run_on_default_stream(std::function<void()> work) {
  auto owned = std::make_unique<std::function<void()>>(std::move(work));
  DeviceWork::require(cudaSetDevice(1), "cudaSetDevice");
  DeviceWork::require(cudaLaunchHostFunc(
                          nullptr,
                          [](void* data) {
                            std::unique_ptr<std::function<void()>> const function(
                                static_cast<std::function<void()>*>(data));
                            (*function)();
                          },
                          owned.get()),
                      "cudaLaunchHostFunc");
  owned.release();
  DeviceWork::require(cudaSetDevice(0), "cudaSetDevice");
}

}  // namespace

// Its handle is that of the current device's, too.
TEST_CASE("a loop on the default stream of another device is on that, with all of its copies") {
  for (std::int64_t const chunk_rows : {50, OneArray::rows}) {
    FakeCuda::reset(2);
    OneArray one({0}, Access::update);
    one.job.wishes.chunk_rows = chunk_rows;
    one.job.targets           = {{1, nullptr}};
    one.job.launch            = [](std::size_t, StreamLaunch const& launch) {
      run_on_default_stream([launch, rows = reinterpret_cast<Number*>(launch.first_rows[0])] {
        for (std::int64_t i = launch.begin; i < launch.end; ++i) ++rows[i];
      });
    };
    DeviceWork::Gate gate;
    run_on_default_stream(gate.hold());
    run_on_default_stream([&] { std::fill(one.array.begin(), one.array.end(), Number(5)); });
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    auto const loop = run_stream(one.job, lanes);
    // What is on a stream that nobody holds is done.
    DeviceWork::require(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    gate.open();
    loop->fence();
    CAPTURE(chunk_rows);
    CHECK(one.array == Array(OneArray::rows, 6));
    DeviceCopies copies(allocate);
    Array table(100, 7);
    run_on_default_stream([&] { table[99] = 8; });
    auto const* const copy = static_cast<Number const*>(
        copies.on_device(1, nullptr, table.data(), table.size() * sizeof(Number)));
    CHECK(copy[99] == 8);
  }
}

TEST_CASE("what goes to a default stream goes to that of the device that it is of") {
  FakeCuda::reset(2);
  auto const current = [] {
    int device = -1;
    DeviceWork::require(cudaGetDevice(&device), "cudaGetDevice");
    return device;
  };
  constexpr std::size_t bytes = 100 * sizeof(Number);
  auto* const from = static_cast<Number*>(Backend::Driver::allocate_pinned(2 * bytes, false));
  auto* const to   = from + 100;
  std::fill_n(from, 200, Number(0));
  DeviceWork::Gate gate;
  run_on_default_stream(gate.hold());
  run_on_default_stream([&] { std::fill_n(from, 100, Number(6)); });
  auto const memory = allocate(1, bytes);
  {
    ScopedDevice const on_device(nullptr, 1);
    CHECK(current() == 1);
    Backend::Driver::copy(memory.get(), from, bytes, nullptr);
    Backend::Driver::copy(to, memory.get(), bytes, nullptr);
  }
  CHECK(current() == 0);
  DeviceWork::require(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");  // of device 0
  CHECK(to[99] == 0);
  gate.open();
  Backend::Driver::fence(nullptr, 1);
  CHECK(std::count(to, to + 100, Number(6)) == 100);
  Backend::Driver::free_pinned(from);

  Backend::Driver::Stream const stream = Backend::Driver::make_stream(1);
  {
    ScopedDevice const on_device(stream, 1);
    CHECK(current() == 0);
  }
  Backend::Driver::release_stream(stream);
}

TEST_CASE("a launch that throws ends the parts of all devices") {
  FakeCuda::reset(3);
  {
    OneArray shared({0, 1, 2});
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    auto const launch = shared.job.launch;
    shared.job.launch = [&](std::size_t target, StreamLaunch const& what) {
      if (shared.launches.size() == 5) throw std::runtime_error("the body failed");
      launch(target, what);
    };
    CHECK_THROWS_AS(run_stream(shared.job, lanes), std::runtime_error);
    CHECK(lanes.held() == 0);
  }
  CHECK(nothing_is_left());
}
