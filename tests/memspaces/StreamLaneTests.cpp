// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops on the streams of a made-up CUDA runtime: each stream is a thread, and every call
// can be told to fail.

#include "../../backend/Driver.hpp"
#include "../../backend/Error.hpp"
#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"
#include "Rounds.hpp"
#include "StreamCases.hpp"

#include <KokkosHostSpaces/impl/StreamJob.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include <catch2/catch_test_macros.hpp>

using namespace StreamCases;
using KokkosHostSpaces::Error;
using KokkosHostSpaces::Transport;

namespace {

std::shared_ptr<char> allocate(int, std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) != cudaSuccess) {
    cudaGetLastError();
    throw Error("no device memory (the test said so): nothing to be done");
  }
  std::memset(memory, 0x55, bytes);
  return {static_cast<char*>(memory), [](char* pointer) { cudaFree(pointer); }};
}

/// Arrays that are page-locked, so that copies do not make the caller wait.
class Locked {
 public:
  explicit Locked(Case& of) {
    for (Array& array : of.arrays()) {
      Driver::lock_pages(array.data(), array.size() * sizeof(Number));
      m_arrays.push_back(&array);
    }
  }
  ~Locked() {
    for (Array* const array : m_arrays)
      Driver::unlock_pages(array->data(), array->size() * sizeof(Number));
  }
  Locked(Locked const&)            = delete;
  Locked& operator=(Locked const&) = delete;

 private:
  std::vector<Array*> m_arrays;
};

using Streams = std::vector<DeviceWork::Stream*>;

StreamJob job_of(Case& random, Streams const& streams) {
  StreamJob job;
  job.label     = "test";
  job.binding   = bind_stream("test", random.loops);
  job.transport = Transport::staged;
  job.wishes    = random.wishes;
  for (std::size_t t = 0; t < streams.size(); ++t)
    job.targets.push_back({int(t), streams[t]->get()});
  job.rates = [](std::size_t) { return LinkRates(); };
  job.save  = [streams, saved = std::make_shared<std::vector<Array>>()](void const* from,
                                                                       std::size_t bytes) mutable {
    saved->emplace_back(bytes / sizeof(Number));
    char* const copy = reinterpret_cast<char*>(saved->back().data());
    streams[0]->run([=] { std::memcpy(copy, from, bytes); });
    return copy;
  };
  job.launch = [&random, streams](std::size_t target, StreamLaunch const& launch) {
    std::size_t const n = random.loops[std::size_t(launch.stage)].arguments.size();
    std::vector<char*> const first_rows(launch.first_rows, launch.first_rows + n);
    streams[target]->run([&random, launch, first_rows] { random.run(launch, first_rows); });
  };
  return job;
}

bool nothing_is_left() {
  FakeCuda::Outstanding const left = FakeCuda::outstanding();
  return left.events == 0 && left.streams == 0 && left.device_allocations == 0;
}

}  // namespace

TEST_CASE("streamed loops are right on streams that run at the same time") {
  int wrong = 0;
  FakeCuda::reset();
  {
    StreamLanes lanes(allocate, std::size_t(1) << 30);
    for (int seed = 0; seed < rounds(60); seed += 2) {
      Case first(static_cast<unsigned>(seed)), second(static_cast<unsigned>(seed + 1));
      Locked const first_locked(first), second_locked(second);
      DeviceWork::Stream first_stream, second_stream;
      auto const expected_first = first.expected(), expected_second = second.expected();
      auto const first_run  = run_stream(job_of(first, {&first_stream}), lanes);
      auto const second_run = run_stream(job_of(second, {&second_stream}), lanes);
      first_run->fence();
      second_run->fence();
      wrong += first.arrays() != expected_first;
      wrong += second.arrays() != expected_second;
    }
  }
  CHECK(wrong == 0);
  CHECK(nothing_is_left());
}

TEST_CASE("two loops one after the other on a stream need no fence between them") {
  int wrong = 0;
  FakeCuda::reset();
  StreamLanes lanes(allocate, 1);  // all take the same memory in turn
  for (int seed = 0; seed < rounds(30); ++seed) {
    Case random(static_cast<unsigned>(seed));
    Locked const locked(random);
    DeviceWork::Stream stream, other;
    StreamJob const job             = job_of(random, {&stream});
    std::vector<Array> const before = random.arrays();
    auto const once                 = random.expected();
    std::vector<Array> in_between   = before;
    run_stream(job, lanes);
    stream.run([&] {
      in_between = random.arrays();
      for (std::size_t a = 0; a < before.size(); ++a)
        std::copy(before[a].begin(), before[a].end(), random.arrays()[a].begin());
    });
    run_stream(job, lanes)->fence();
    wrong += in_between != once;
    wrong += random.arrays() != once;
  }
  CHECK(wrong == 0);
}

namespace {

enum class Outcome { right, told, wrong };

// Runs a loop while the n-th call of the runtime fails (0: none), and again if that is told.
Outcome run_with_failure(unsigned seed, std::size_t call, std::size_t* calls = nullptr) {
  FakeCuda::reset();
  StreamLanes lanes(allocate, std::size_t(1) << 30);
  Case random(seed);
  random.wishes.chunk_rows = 5;
  Locked const locked(random);
  DeviceWork::Stream stream;
  StreamJob const job     = job_of(random, {&stream});
  auto const expected     = random.expected();
  auto const before       = random.arrays();
  std::size_t const first = FakeCuda::calls("*");
  bool told               = false;
  std::shared_ptr<StreamedState> loop;  // a driver that refuses to take an event back has it
  if (call > 0) FakeCuda::fail_nth_call("*", call);
  try {
    loop = run_stream(job, lanes);
    loop->fence();
  } catch (Error const&) {
    told = true;
  }
  FakeCuda::fail_no_more();
  if (calls != nullptr) *calls = FakeCuda::calls("*") - first;
  if (told) {
    for (std::size_t a = 0; a < before.size(); ++a)
      std::copy(before[a].begin(), before[a].end(), random.arrays()[a].begin());
    run_stream(job, lanes)->fence();
  }
  if (random.arrays() != expected) return Outcome::wrong;
  return told ? Outcome::told : Outcome::right;
}

}  // namespace

TEST_CASE("a failure of any call is told once, with nothing running and nothing leaked") {
  int told = 0, all = 0;
  for (unsigned const seed : {4U, 5U, 8U, 21U}) {
    std::size_t calls = 0;
    REQUIRE(run_with_failure(seed, 0, &calls) == Outcome::right);
    for (std::size_t call = 1; call <= calls; ++call, ++all) {
      CAPTURE(seed, call);
      Outcome const outcome = run_with_failure(seed, call);
      REQUIRE(outcome != Outcome::wrong);
      REQUIRE(nothing_is_left());
      told += outcome == Outcome::told;
    }
  }
  CHECK(all > 200);
  CHECK(told > all / 4);  // others are of contexts and capture modes, which are looked after
}

TEST_CASE("a launch that throws ends the loop, with nothing running and nothing leaked") {
  FakeCuda::reset();
  {
    StreamLanes lanes(allocate, std::size_t(1) << 30);
    Case random(4);
    random.wishes.chunk_rows = 5;
    Locked const locked(random);
    DeviceWork::Stream stream;
    StreamJob job     = job_of(random, {&stream});
    auto const launch = job.launch;
    int launches      = 0;
    job.launch        = [&](std::size_t target, StreamLaunch const& what) {
      if (++launches == 2) throw std::runtime_error("the body failed");
      launch(target, what);
    };
    CHECK_THROWS_AS(run_stream(job, lanes), std::runtime_error);
    CHECK(lanes.held() == 0);
  }
  CHECK(nothing_is_left());
}

TEST_CASE("several devices share a loop, and read what was there before their neighbours write") {
  int wrong = 0;
  FakeCuda::reset(3);
  {
    StreamLanes lanes(allocate, std::size_t(1) << 30);
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

TEST_CASE("several devices share a reduction: each row is seen once, and each chunk has its part") {
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
  Driver::lock_pages(array.data(), rows * sizeof(Number));
  {
    StreamLanes lanes(allocate, std::size_t(1) << 30);
    std::vector<std::unique_ptr<DeviceWork::Stream>> streams(4);
    for (int device : {3, 2, 1, 0}) {  // the first one is current afterwards
      DeviceWork::require(cudaSetDevice(device), "cudaSetDevice");
      streams[std::size_t(device)] = std::make_unique<DeviceWork::Stream>();
    }
    for (Transport const transport : {Transport::staged, Transport::zero_copy}) {
      std::vector<Number> parts;
      StreamJob job;
      job.label             = "test";
      job.binding           = bind_stream("test", {loop});
      job.transport         = transport;
      job.wishes.chunk_rows = 70;
      job.wishes.memory     = std::size_t(1) << 20;
      job.rates             = [](std::size_t) { return LinkRates(); };
      job.prepare           = [&](std::int64_t chunks) { parts.assign(std::size_t(chunks), 0); };
      for (int t = 0; t < 4; ++t) job.targets.push_back({t, streams[std::size_t(t)]->get()});
      job.launch = [&](std::size_t target, StreamLaunch const& launch) {
        streams[target]->run([&, launch, from = launch.first_rows[0]] {
          for (std::int64_t i = launch.begin; i < launch.end; ++i)
            parts[std::size_t(launch.chunk)] += reinterpret_cast<Number const*>(from)[i];
        });
      };
      run_stream(job, lanes)->fence();
      CAPTURE(int(transport));
      CHECK(parts.size() == 16);  // four of each
      CHECK(std::accumulate(parts.begin(), parts.end(), Number(0)) == rows * (rows + 1) / 2);
    }
  }
  Driver::unlock_pages(array.data(), rows * sizeof(Number));
  CHECK(nothing_is_left());
}

TEST_CASE("memory of streamed loops is used again, bounded, and given back") {
  FakeCuda::reset();
  constexpr std::size_t unit = 1 << 20;
  {
    StreamLanes lanes(allocate, 4 * unit);
    auto const first = lanes.take(0, unit), second = lanes.take(0, 2 * unit);
    CHECK(lanes.held() == 3 * unit);
    lanes.put_back(second);
    CHECK(lanes.take(0, 2 * unit) == second);
    lanes.put_back(first);
    lanes.put_back(second);
    auto const third = lanes.take(0, 4 * unit);  // the others are not in use
    CHECK(lanes.held() == 4 * unit);
    lanes.put_back(third);
    lanes.release();
    CHECK(lanes.held() == 0);
  }
  CHECK(nothing_is_left());
}

TEST_CASE("threads that enqueue at once share the memory of streamed loops, and take no more") {
  FakeCuda::reset();
  constexpr std::size_t unit = 1 << 20;
  StreamLanes lanes(allocate, 4 * unit);
  auto const first = lanes.take(0, 4 * unit);
  std::shared_ptr<StreamLane> second;
  std::atomic<bool> asks = false;
  std::thread other([&] {
    asks   = true;
    second = lanes.take(0, 3 * unit);
  });
  while (!asks) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(lanes.held() == 4 * unit);
  lanes.put_back(first);
  other.join();
  CHECK(second == first);
  CHECK(lanes.held() == 4 * unit);
}
