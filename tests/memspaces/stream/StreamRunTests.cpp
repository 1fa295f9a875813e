// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops on the fake CUDA runtime, on one device and several: equal to loops on the host, with
// the bytes that their arguments imply, and ordered with the caller's streams.

#include "StreamJobs.hpp"

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>

namespace StreamRunTests {

using namespace StreamCases;

namespace {

constexpr std::size_t plenty = std::size_t(1) << 30;

// The bytes that were copied.
Bytes copied(Case const& of) {
  Bytes sum;
  for (FakeCuda::Copied const& copy : FakeCuda::copied()) {
    bool to_host = false;
    for (Array const& array : of.arrays())
      to_host |= copy.dst >= array.data() && copy.dst < array.data() + array.size();
    (to_host ? sum.to_host : sum.to_device) += copy.bytes;
  }
  return sum;
}

// Adds one to each number of an array of OneArray.
void add_ones(OneArray& one) {
  one.job.launch = [&one](std::size_t target, StreamLaunch const& launch) {
    one.launches.push_back({target, launch.chunk});
    one.streams[target]->run([launch, rows = reinterpret_cast<Number*>(launch.first_rows[0])] {
      for (std::int64_t i = launch.begin; i < launch.end; ++i) ++rows[i];
    });
  };
}

}  // namespace

TEST_CASE("a streamed loop equals the same loop on the host, and copies what its arguments imply") {
  int wrong = 0, loops = 0, ran = 0;
  for (int seed = 0; seed < rounds(300); ++seed) {
    int const devices = 1 + seed % 3;
    FakeCuda::reset(devices);
    {
      StreamResourcePool pool(allocate, seed % 7 == 0 ? 1 : plenty);
      Case random(static_cast<unsigned>(seed), seed % 4 == 0);
      random.options.memory = plenty;
      Locked const locked(random);
      auto const expected = random.expected();
      auto const streams  = streams_on(devices);
      try {
        StreamJob job = job_of(random, pointers(streams));
        if (job.binding.in_place.empty() && seed % 5 == 0 && random.loops.size() == 1)
          job.transport = Transport::zero_copy;
        // The rows of a loop that each device launches.
        std::vector<StreamRows> launched(streams.size());
        job.launch = [&, launch = job.launch](std::size_t target, StreamLaunch const& what) {
          StreamRows& rows = launched[target];
          if (rows.count() == 0) rows.begin = what.begin;
          rows.end = what.end;
          launch(target, what);
        };
        auto const loop = run_stream(job, pool);
        loop->fence();
        ++ran;
        Bytes implied{loop->bytes_to_device, loop->bytes_to_host};
        bool good = copied(random) == implied && random.arrays() == expected;
        if (random.loops.size() == 1 && job.transport == Transport::staged) {
          ++loops;
          for (StreamRows const& rows : launched) {
            implied.to_device -= random.implied(rows).to_device;
            implied.to_host -= random.implied(rows).to_host;
          }
          good &= implied == Bytes();
        }
        if (!good) UNSCOPED_INFO("seed " << seed);
        wrong += !good;
      } catch (Error const&) {  // a stage reads rows that no stage writes
      }
    }
    REQUIRE(nothing_is_left());
  }
  CHECK(wrong == 0);
  CHECK(ran > rounds(300) / 2);
  CHECK(loops > rounds(300) / 8);
}

TEST_CASE("loops on two streams at once, and one after the other on a stream, need no fence") {
  int wrong = 0;
  FakeDevices const devices;
  {
    StreamResourcePool pool(allocate, plenty), small(allocate, 1);
    for (int seed = 0; seed < rounds(60); seed += 2) {
      Case first(static_cast<unsigned>(seed)), second(static_cast<unsigned>(seed + 1));
      Locked const first_locked(first), second_locked(second);
      DeviceWork::Stream stream, other;
      std::vector<Array> const before = first.arrays();
      auto const expected_first = first.expected(), expected_second = second.expected();
      std::vector<Array> in_between = before;
      StreamJob const job           = job_of(first, {&stream});
      auto const second_run         = run_stream(job_of(second, {&other}), pool);
      run_stream(job, small);
      stream.run([&] {
        in_between = first.arrays();
        for (std::size_t a = 0; a < before.size(); ++a)
          std::copy(before[a].begin(), before[a].end(), first.arrays()[a].begin());
      });
      run_stream(job, small)->fence();
      second_run->fence();
      wrong += in_between != expected_first;
      wrong += first.arrays() != expected_first;
      wrong += second.arrays() != expected_second;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a reduction on several devices sees each row once, in the same chunks") {
  FakeCuda::reset(4);
  OneArray one({0});
  for (int i = 0; i < OneArray::rows; ++i) one.array[std::size_t(i)] = Number(i + 1);
  StreamResourcePool pool(allocate, plenty);
  auto const streams = streams_on(4);
  std::vector<Number> sums(15);
  for (int i = 0; i < OneArray::rows; ++i) sums[std::size_t(i / 70)] += one.array[std::size_t(i)];
  for (int run = 0; run < 8; ++run) {
    std::vector<Number> parts;
    one.job.transport          = run % 2 == 0 ? Transport::staged : Transport::zero_copy;
    one.job.options.chunk_rows = 70;
    one.job.weights            = [&one, run] {
      std::vector<double> weights;
      for (std::size_t t = 0; t < one.job.targets.size(); ++t)
        weights.push_back(double(1 + t * std::size_t(run)));
      return weights;
    };
    one.job.prepare = [&](std::int64_t chunks) { parts.assign(std::size_t(chunks), 0); };
    one.job.targets.clear();
    for (int t = 0; t < 1 + run / 2; ++t)
      one.job.targets.push_back({t, streams[std::size_t(t)]->get()});
    one.job.launch = [&](std::size_t target, StreamLaunch const& launch) {
      streams[target]->run([&, launch, from = launch.first_rows[0]] {
        for (std::int64_t i = launch.begin; i < launch.end; ++i)
          parts[std::size_t(launch.chunk)] += reinterpret_cast<Number const*>(from)[i];
      });
    };
    run_stream(one.job, pool)->fence();
    CAPTURE(run);
    CHECK(parts == sums);
  }
}

TEST_CASE("devices that share a loop get their chunks in turn, so that all begin at once") {
  FakeCuda::reset(4);
  OneArray shared({2, 0, 3, 1});
  StreamResourcePool pool(allocate, plenty);
  run_stream(shared.job, pool)->fence();
  std::vector<OneArray::Launch> expected;
  for (std::int64_t chunk = 0; chunk < 5; ++chunk)
    for (std::size_t target : {1, 3, 0, 2})  // by their devices
      expected.push_back({target, chunk + 5 * std::int64_t(target)});
  CHECK(shared.launches == expected);
}

TEST_CASE("a device may have two parts of a loop, or none if there are more devices than rows") {
  FakeCuda::reset(4);
  OneArray twice({1, 0, 1}, Access::update), few({0, 1, 2, 3}, Access::update);
  StreamResourcePool pool(allocate, 1);
  add_ones(twice);
  run_stream(twice.job, pool)->fence();
  CHECK(twice.array == Array(OneArray::rows, 2));
  add_ones(few);
  few.job.binding.shape.stages[0] = {500, 502, few.job.binding.shape.stages[0].accesses};
  few.job.weights                 = [] { return std::vector<double>{1, 1, 1e-9, 1e-9}; };
  auto const run                  = run_stream(few.job, pool);
  run->fence();
  CHECK(few.launches == std::vector<OneArray::Launch>{{0, 0}, {1, 1}});
  CHECK(std::count(few.array.begin(), few.array.end(), Number(2)) == 2);
  CHECK(run->chunks == 2);
}

namespace {

// Runs a function on the default stream of device 1, and makes device 0 current.
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

// The handle of the default stream is the same on all devices.
TEST_CASE("a loop on the default stream of another device is on that one, with all its copies") {
  for (std::int64_t const chunk_rows : {50, OneArray::rows}) {
    FakeCuda::reset(2);
    OneArray one({0}, Access::update);
    one.job.options.chunk_rows = chunk_rows;
    one.job.targets            = {{1, nullptr}};
    one.job.launch             = [](std::size_t, StreamLaunch const& launch) {
      run_on_default_stream([launch, rows = reinterpret_cast<Number*>(launch.first_rows[0])] {
        for (std::int64_t i = launch.begin; i < launch.end; ++i) ++rows[i];
      });
    };
    DeviceWork::Gate gate;
    run_on_default_stream(gate.hold());
    run_on_default_stream([&] { std::fill(one.array.begin(), one.array.end(), Number(5)); });
    StreamResourcePool pool(allocate, plenty);
    auto const loop = run_stream(one.job, pool);
    // Would run all work that went to the default stream of device 0.
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

// --- the choice of the transport ---

namespace {

enum class Rule { in_place, staged };

struct Increase : OneArray {
  explicit Increase(Rule rule) : OneArray({0}, Access::update) {
    add_ones(*this);
    job.transport = Transport::automatic;
    // A row that ends beyond the array, of which nothing is copied in place.
    if (rule == Rule::staged) job.binding.shape.stages[0].accesses[0].halo = 1;
  }

  std::shared_ptr<StreamedState> run() {
    auto loop = run_stream(job, pool);
    loop->fence();
    CHECK(array == Array(rows, 2));
    CHECK(loop->memory == pool.held());
    return loop;
  }

  StreamResourcePool pool{allocate, plenty};
};

}  // namespace

TEST_CASE("loops take the transport of the rule or of the call, if they can, and tell why") {
  FakeCuda::reset();
  // The loop after `change`: its transport, and what it says of it.
  auto const check = [](Rule rule, Transport expected, std::string const& words,
                        auto const& change) {
    Increase loop{rule};
    change(loop.job);
    auto const state = loop.run();
    CHECK(state->transport == expected);
    CHECK_THAT(state->why, ContainsSubstring(words));
    bool const staged = expected == Transport::staged;
    CHECK(state->bytes_to_device == (staged ? sizeof(Number) * OneArray::rows : 0));
    CHECK((state->memory > 0) == staged);
    if (staged) CHECK(state->chunks == std::int64_t(loop.launches.size()));
    return state->why;
  };
  constexpr auto staged = Transport::staged, in_place = Transport::zero_copy;
  auto const pageable = [](StreamJob& job) { job.binding.pageable = "\"u\""; };
  check(Rule::in_place, in_place, "no array has more than 8 MiB", [](StreamJob&) {});
  check(Rule::staged, staged, "by a halo", [](StreamJob&) {});
  check(Rule::in_place, staged, "\"u\" is not page-locked", pageable);
  check(Rule::in_place, staged, "find new values where they read",
        [](StreamJob& job) { job.binding.in_place = "\"u\""; });
  check(Rule::in_place, staged, "as asked; \"u\" is not page-locked, so", [&](StreamJob& job) {
    pageable(job);
    job.transport = staged;
  });
  auto const too_small = [](StreamJob& job) { job.options.memory = 3 * 512 - 1; };
  CHECK_THAT(check(Rule::staged, in_place, "staging is not possible: ", too_small),
             ContainsSubstring("may take 1535"));
  Increase refused{Rule::staged};
  too_small(refused.job);
  refused.job.binding.in_place = "\"u\"";
  CHECK_THROWS_AS(run_stream(refused.job, refused.pool), Error);
  CHECK((refused.launches.empty() && refused.pool.held() == 0));

  FakeCuda::reaches_pageable_memory();
  CHECK_THAT(check(Rule::staged, in_place, "coherently", pageable),
             !ContainsSubstring("page-locked"));
  check(Rule::staged, in_place, "as asked", [&](StreamJob& job) {
    pageable(job);
    job.transport = in_place;
  });
}

// --- device memory ---

TEST_CASE("memory of a loop that runs is not freed before the loop is done") {
  FakeDevices const devices;
  OneArray one({0}, Access::update);
  add_ones(one);
  StreamResourcePool pool(allocate, 1);
  DeviceWork::Gate gate;
  one.streams[0]->run(gate.hold());
  auto const loop = run_stream(one.job, pool);
  CHECK_FALSE(loop->is_done());
  pool.release();
  CHECK(pool.held() == loop->memory);
  gate.open();
  loop->fence();
  CHECK(one.array == Array(OneArray::rows, 2));
  pool.release();
  CHECK(pool.held() == 0);
}

}  // namespace StreamRunTests
