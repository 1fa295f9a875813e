// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops on a made-up CUDA runtime whose calls fail, has no memory left, or captures.

#include "StreamJobs.hpp"

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace StreamFailures {

using namespace StreamCases;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using KokkosHostSpaces::Impl::DeviceCopies;

namespace {

constexpr std::size_t plenty = std::size_t(1) << 30;

enum class Outcome { right, told, wrong };

struct Failing {
  unsigned seed;
  bool crossed;
  Transport transport;
  int devices;
};

void restore(Case& of, std::vector<Array> const& before) {
  for (std::size_t a = 0; a < before.size(); ++a)
    std::copy(before[a].begin(), before[a].end(), of.arrays()[a].begin());
}

// Random chains may read what nobody writes, or loops what they write, which is not for ZeroCopy.
Failing first_that_fits(Failing what) {
  for (;; ++what.seed) {
    Case random(what.seed, what.crossed);
    random.wishes.memory = plenty;
    try {
      StreamBinding const bound = bind_stream("test", random.loops);
      bool const several        = plan_stream("test", bound.shape, random.wishes).chunks > 1;
      if (several && !(bound.in_place && what.transport == Transport::zero_copy)) return what;
    } catch (Error const&) {  // the next one
    }
  }
}

// The n-th call of the runtime fails (0: none); if that is told, the loop is run again on the same
// lanes.
Outcome run_with_failure(Failing const& what, std::size_t call, std::size_t* calls = nullptr) {
  FakeCuda::reset(what.devices);
  StreamResourcePool lanes(allocate, plenty);
  Case random(what.seed, what.crossed);
  random.wishes.chunk_rows = 9;
  random.wishes.memory     = plenty;
  Locked const locked(random);
  auto const streams      = streams_on(what.devices);
  StreamJob job           = job_of(random, pointers(streams));
  job.transport           = what.transport;
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
    restore(random, before);  // nothing is running that would write once more
    run_stream(job, lanes)->fence();
  }
  if (random.arrays() != expected) return Outcome::wrong;
  return told ? Outcome::told : Outcome::right;
}

// The one event that the driver was told to keep is left.
bool all_was_given_back() {
  FakeCuda::Outstanding const left = FakeCuda::outstanding();
  bool const refused = FakeCuda::calls("cuEventCreate") == FakeCuda::calls("cuEventDestroy");
  return left.streams == 0 && left.device_allocations == 0 && left.events <= (refused ? 1 : 0);
}

}  // namespace

TEST_CASE("a failure of any call is told once, also in chains, in place and on several devices") {
  std::size_t const step = rounds(0) > 0 ? 1 : sanitized ? 24 : 12;
  int told = 0, all = 0;
  for (unsigned n = 0; n < 12; ++n) {
    Failing const what =
        first_that_fits({100 * n, n % 2 == 0, n % 4 < 2 ? Transport::staged : Transport::zero_copy,
                         1 + int(n % 3)});
    std::size_t calls = 0;
    CAPTURE(what.seed, what.devices, int(what.transport));
    REQUIRE(run_with_failure(what, 0, &calls) == Outcome::right);
    for (std::size_t call = 1 + n % step; call <= calls; call += step, ++all) {
      CAPTURE(call);
      Outcome const outcome = run_with_failure(what, call);
      REQUIRE(outcome != Outcome::wrong);
      REQUIRE(all_was_given_back());
      told += outcome == Outcome::told;
    }
  }
  CHECK(all > 100);
  CHECK(told > all / 4);  // others are of contexts and capture modes, which are looked after
}

TEST_CASE("device memory that is kept for later loops goes back if a loop cannot have its own") {
  FakeCuda::reset();
  {
    OneArray one({0});
    std::size_t left       = 4 * 512;  // of a device that others fill
    auto const give_back   = [&left](char*, std::size_t bytes) { left += bytes; };
    auto const of_the_rest = [&](int device, std::size_t bytes) {
      if (bytes > left) throw Error("no device memory (the test said so): nothing to be done");
      left -= bytes;
      return std::shared_ptr<char>(
          allocate(device, bytes).get(),
          [memory = allocate(device, bytes), give_back, bytes](char* p) { give_back(p, bytes); });
    };
    StreamResourcePool lanes(of_the_rest, plenty);
    lanes.put_back(lanes.take(0, 3 * 512));
    CHECK(lanes.take(0, 4 * 512)->bytes == 4 * 512);
    CHECK_THROWS_AS(lanes.take(0, 512), Error);  // all of it is in use
  }
  CHECK(nothing_is_left());
}

TEST_CASE("a loop that needs the memory of one that failed is told, and does not wait forever") {
  FakeCuda::reset();
  {
    OneArray small({0}), large({0});
    large.job.wishes.chunk_rows = OneArray::rows / 2;
    StreamResourcePool lanes(allocate, 1);
    run_stream(small.job, lanes)->fence();
    std::atomic<bool> ended = false, told = false;
    FakeCuda::fail_every(1);  // as if a kernel had touched what it must not
    std::jthread const loop([&] {
      try {
        run_stream(large.job, lanes);
      } catch (Error const&) {
        told = true;
      }
      ended = true;
    });
    for (int i = 0; i < 1000 && !ended; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(ended);
    FakeCuda::fail_no_more();
    lanes.drop(nullptr);  // whoever waits still looks again
    while (!ended) std::this_thread::yield();
    CHECK(told);
    run_stream(large.job, lanes)->fence();
  }
  CHECK(nothing_is_left());
}

TEST_CASE("a loop that is called while another one is enqueued does not wait for its memory") {
  FakeCuda::reset(2);
  {
    OneArray outer({0, 1}), inner({1, 0});
    StreamResourcePool lanes(allocate, 1);
    outer.job.launch = [&, launch = outer.job.launch](std::size_t target,
                                                      StreamLaunch const& what) {
      if (outer.launches.size() == 3) run_stream(inner.job, lanes);
      launch(target, what);
    };
    run_stream(outer.job, lanes)->fence();
    CHECK(outer.launches.size() == 20);
    CHECK(inner.launches.size() == 20);
  }
  CHECK(nothing_is_left());
}

TEST_CASE("a loop on an instance that captures is refused, and the capture goes on") {
  FakeCuda::reset(2);
  {
    OneArray one({1, 0});
    StreamResourcePool lanes(allocate, plenty);
    for (Transport const transport : {Transport::staged, Transport::zero_copy}) {
      one.job.transport = transport;
      one.streams[1]->begin_capture(cudaStreamCaptureModeRelaxed);
      CHECK_THROWS_MATCHES(run_stream(one.job, lanes), Error,
                           MessageMatches(ContainsSubstring("outside of the capture")));
      CHECK(one.streams[1]->end_capture());
    }
    run_stream(one.job, lanes)->fence();
    CHECK(one.launches.size() == 20);
  }
  CHECK(nothing_is_left());
}

TEST_CASE("memory that is page-locked in part is not taken for memory that kernels reach") {
  FakeCuda::reset();
  alignas(4096) static char memory[2 * 4096];
  Backend::Driver::lock_pages(memory, 4096);
  CHECK(is_reachable(memory, 4096));
  CHECK(is_reachable(memory, 0));
  CHECK_FALSE(is_reachable(memory, 4097));
  CHECK_FALSE(is_reachable(memory + 4095, 2));
  CHECK_FALSE(is_reachable(nullptr, 0));
  Backend::Driver::unlock_pages(memory, 4096);
}

TEST_CASE("a device's copy of a View has what work before it on the stream wrote there") {
  FakeCuda::reset();
  {
    std::vector<int> table(100, 0);
    DeviceWork::Stream stream;
    DeviceWork::Gate gate;
    DeviceCopies copies(allocate);
    stream.run(gate.hold());
    stream.run([&] { std::fill(table.begin(), table.end(), 7); });
    std::jthread const opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gate.open();
    });
    void* const copy = copies.on_device(0, stream.get(), table.data(), sizeof(int) * 100);
    CHECK(std::memcmp(copy, table.data(), sizeof(int) * 100) == 0);
    CHECK(static_cast<int const*>(copy)[99] == 7);
    CHECK(copies.on_device(0, stream.get(), table.data(), sizeof(int) * 100) == copy);
  }
  CHECK(nothing_is_left());
}

}  // namespace StreamFailures
