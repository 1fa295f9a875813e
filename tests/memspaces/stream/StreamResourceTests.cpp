// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops on the streams of a made-up CUDA runtime: each stream is a thread, and every call
// can be told to fail.

#include "StreamJobs.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include <catch2/catch_test_macros.hpp>

using namespace StreamCases;

TEST_CASE("streamed loops are right on streams that run at the same time") {
  int wrong = 0;
  FakeCuda::reset();
  {
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
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
  StreamResourcePool lanes(allocate, 1);  // all take the same memory in turn
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

TEST_CASE(
    "a loop of one chunk is on the caller's stream alone, without events that are waited for") {
  FakeCuda::reset();
  {
    OneArray one({0}, Access::update);
    one.job.wishes.chunk_rows = OneArray::rows;
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    FakeCuda::use_copy_engines();
    FakeCuda::start_copy_engines();
    auto const launch = one.job.launch;
    one.job.launch    = [&](std::size_t target, StreamLaunch const& what) {
      launch(target, what);
      auto* const rows = reinterpret_cast<Number*>(what.first_rows[0]);
      one.streams[0]->run([=] { std::fill_n(rows, OneArray::rows, Number(2)); });
    };
    auto const loop = run_stream(one.job, lanes);
    CHECK(FakeCuda::calls("cudaStreamWaitEvent") == 0);
    CHECK(FakeCuda::calls("cudaEventRecord") ==
          2);  // for whoever has the memory next, for the user
    CHECK(FakeCuda::outstanding().streams == 1);
    loop->fence();
    CHECK(FakeCuda::copied().size() == 2);
    CHECK(one.array == Array(OneArray::rows, 2));
  }
  CHECK(nothing_is_left());
}

TEST_CASE("a staged loop over memory that is not page-locked says that the call may wait") {
  FakeCuda::reset();
  OneArray one({0});
  StreamResourcePool lanes(allocate, std::size_t(1) << 30);
  CHECK(run_stream(one.job, lanes)->why() == "as asked");
  one.job.binding.pageable = "\"u\"";
  CHECK(run_stream(one.job, lanes)->why() == "as asked; \"u\" is not page-locked, so it may wait");
}

namespace {

// Of two loops of 20 copies each, all enqueued before the first one may begin: how many of one were
// done before the other's last one.
int done_meanwhile(Access access, std::size_t gives_way_from) {
  FakeCuda::reset();
  OneArray first({0}, access), second({0}, access);
  StreamResourcePool lanes(allocate, std::size_t(1) << 30);
  FakeCuda::use_copy_engines();
  std::vector<std::shared_ptr<StreamedState>> loops;
  for (OneArray* const one : {&first, &second}) {
    one->job.wishes.slots          = 20;  // no copy waits for a kernel
    one->job.wishes.gives_way_from = gives_way_from;
    loops.push_back(run_stream(one->job, lanes));
  }
  FakeCuda::start_copy_engines();
  for (auto const& loop : loops) loop->fence();
  int done[2] = {};
  for (FakeCuda::Copied const& copy : FakeCuda::copied()) {
    int const loop = second.has(copy.src) || second.has(copy.dst);
    if (++done[loop] == 20) return done[1 - loop];
  }
  return -1;
}

}  // namespace

TEST_CASE("loops that run at once have their turns, also if one was enqueued before the other") {
  for (Access const access : {Access::read, Access::write}) {
    CAPTURE(int(access));
    CHECK(done_meanwhile(access, 0) >= 14);
    // Not worth its while: they are over soon.
    CHECK(done_meanwhile(access, std::size_t(1) << 20) == 0);
  }
}

TEST_CASE("a turn is a twelfth of a loop, but not long; small loops are left alone") {
  auto const turn = [](std::size_t bytes) {
    StreamShape shape;
    shape.buffers = {{.name = "u", .row_bytes = 1 << 20, .rows = std::int64_t(bytes >> 20)}};
    shape.stages  = {{0, shape.buffers[0].rows, {{0, 0, false}}}};
    PlanOptions const wishes{.memory = std::size_t(1) << 30};
    shape.buffers[0].loaded = true;
    return plan_stream("test", shape, wishes).turn_to_device;
  };
  CHECK(turn(std::size_t(511) << 20) > std::size_t(511) << 20);
  CHECK(turn(std::size_t(600) << 20) == std::size_t(50) << 20);
  CHECK(turn(std::size_t(8) << 30) == std::size_t(128) << 20);
}

namespace {

enum class Outcome { right, told, wrong };

// Runs a loop while the n-th call of the runtime fails (0: none), and again if that is told.
Outcome run_with_failure(unsigned seed, std::size_t call, std::size_t* calls = nullptr) {
  FakeCuda::reset();
  StreamResourcePool lanes(allocate, std::size_t(1) << 30);
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
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
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

TEST_CASE("memory of streamed loops is used again, bounded, and given back") {
  FakeCuda::reset();
  constexpr std::size_t unit = 1 << 20;
  {
    StreamResourcePool lanes(allocate, 4 * unit);
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

TEST_CASE("memory of a loop that runs is not given back before it is done, whoever asks") {
  FakeCuda::reset();
  {
    OneArray one({0}, Access::update);
    one.job.launch = [&](std::size_t, StreamLaunch const& launch) {
      one.streams[0]->run([launch, rows = reinterpret_cast<Number*>(launch.first_rows[0])] {
        for (std::int64_t i = launch.begin; i < launch.end; ++i) ++rows[i];
      });
    };
    StreamResourcePool lanes(allocate, 1);  // any other loop would want it back
    DeviceWork::Gate gate;
    one.streams[0]->run(gate.hold());
    auto const loop = run_stream(one.job, lanes);
    CHECK_FALSE(loop->is_done());
    lanes.release();
    CHECK(lanes.held() == loop->memory);
    gate.open();
    loop->fence();
    CHECK(one.array == Array(OneArray::rows, 2));
    lanes.release();
    CHECK(lanes.held() == 0);
  }
  CHECK(nothing_is_left());
}

TEST_CASE("threads that enqueue at once share the memory of streamed loops, and take no more") {
  FakeCuda::reset();
  constexpr std::size_t unit = 1 << 20;
  StreamResourcePool lanes(allocate, 4 * unit);
  auto const first = lanes.take(0, 4 * unit);
  std::shared_ptr<StreamResources> second;
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
