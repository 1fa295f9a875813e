// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The bytes that a made-up CUDA runtime is asked to copy for streamed loops, by the table of the
// page for users.

#include "StreamJobs.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>

namespace StreamTraffic {

using namespace StreamCases;

namespace {

struct Bytes {
  std::size_t to_device = 0, to_host = 0;
  bool operator==(Bytes const&) const = default;
};

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

// Rows that a target launched, of each stage.
using Launched = std::vector<std::vector<StreamRows>>;

// Of a loop on one device, or of a device's part of it.
Bytes by_table(Case const& of, StreamRows const& rows) {
  LoopFacts const& loop = of.loops.front();
  Bytes sum;
  std::map<char const*, StreamRows> reads;
  for (ArgumentFacts const& argument : loop.arguments) {
    bool const whole = loop.lower[1] == 0 && loop.upper[1] == argument.extents[1];
    if (argument.access != Access::read) sum.to_host += std::size_t(rows.count() * of.row_bytes());
    if (argument.access == Access::write && whole) continue;
    StreamRows& read = reads.try_emplace(argument.data, rows).first->second;
    read.begin       = std::min(read.begin, std::max<std::int64_t>(rows.begin - argument.halo, 0));
    read.end         = std::max(read.end, std::min(rows.end + argument.halo, of.rows()));
  }
  for (auto const& [array, read] : reads)
    sum.to_device += std::size_t(read.count() * of.row_bytes());
  return sum;
}

// Of what a chain writes, the rows of the stage that writes it.
std::size_t to_host(Case const& of) {
  std::int64_t rows = 0;
  for (LoopFacts const& loop : of.loops)
    for (ArgumentFacts const& argument : loop.arguments)
      if (argument.access != Access::read && argument.intermediate == nullptr)
        rows += StreamRows{loop.lower[0], loop.upper[0]}.count();
  return std::size_t(rows * of.row_bytes());
}

// Runs a case on some devices; what each launched.
Launched run(Case& random, int devices, StreamResourcePool& lanes, Bytes& said) {
  auto const streams = streams_on(devices);
  StreamJob job      = job_of(random, pointers(streams));
  Launched launched(streams.size(), std::vector<StreamRows>(random.loops.size()));
  job.launch = [&, launch = job.launch](std::size_t target, StreamLaunch const& what) {
    StreamRows& rows = launched[target][at(what.stage)];
    if (rows.count() == 0) rows.begin = what.begin;
    rows.end = what.end;
    launch(target, what);
  };
  auto const loop = run_stream(job, lanes);
  loop->fence();
  said = {loop->bytes_to_device, loop->bytes_to_host};
  return launched;
}

}  // namespace

TEST_CASE("a runtime is asked for the bytes that arguments imply, whatever the loop and devices") {
  int loops = 0, wrong = 0, unlike = 0;
  for (int seed = 0; seed < rounds(600) / 4; ++seed) {
    int const devices = 1 + seed % 3;
    FakeCuda::reset(devices);
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    Case random(static_cast<unsigned>(seed), seed % 2 == 0);
    random.wishes.memory = std::size_t(1) << 30;
    Locked const locked(random);
    FakeCuda::use_copy_engines();
    FakeCuda::start_copy_engines();
    auto const expected = random.expected();
    Bytes said;
    Launched launched;
    try {
      launched = run(random, devices, lanes, said);
    } catch (Error const&) {
      continue;  // a stage reads what nobody writes
    }
    Bytes const counted = copied(random);
    unlike += counted != said || random.arrays() != expected;
    wrong += counted.to_host != to_host(random);
    if (random.loops.size() > 1) continue;
    ++loops;
    Bytes all;
    for (auto const& stages : launched) {
      Bytes const part = stages[0].count() > 0 ? by_table(random, stages[0]) : Bytes();
      all.to_device += part.to_device;
      all.to_host += part.to_host;
    }
    if (counted != all) UNSCOPED_INFO("seed " << seed);
    wrong += counted != all;
  }
  CHECK(wrong == 0);
  CHECK(unlike == 0);
  CHECK(loops > rounds(600) / 32);
}

TEST_CASE("chunks of a size that the library finds copy each byte once, within the memory") {
  constexpr int width = 1024, rows = OneArray::rows;  // 8 MB
  constexpr std::size_t bytes = rows * width * sizeof(Number), few = 2 << 20;
  for (std::size_t const memory : {std::size_t(1) << 30, few}) {
    for (int devices = 1; devices <= 3; ++devices) {
      FakeCuda::reset(devices);
      std::vector<int> used{0, 1, 2};
      used.resize(std::size_t(devices));
      OneArray one(used);
      Array array(rows * width, 1);
      Backend::Driver::lock_pages(array.data(), bytes);
      StreamResourcePool lanes(allocate, std::size_t(1) << 30);
      FakeCuda::use_copy_engines();
      FakeCuda::start_copy_engines();
      LoopFacts loop;
      loop.upper[0] = rows;
      ArgumentFacts u;
      u.side          = Side::page_locked;
      u.access        = Access::update;
      u.data          = reinterpret_cast<char*>(array.data());
      u.element_bytes = width * sizeof(Number);
      u.extents[0]    = rows;
      loop.arguments  = {u};
      one.job.binding = bind_stream("test", {loop});
      one.job.wishes  = {.memory = memory};
      one.job.launch  = [&](std::size_t target, StreamLaunch const& launch) {
        one.streams[target]->run([launch, first = launch.first_rows[0]] {
          auto* const elements = reinterpret_cast<Number*>(first);
          for (std::int64_t i = launch.begin * width; i < launch.end * width; ++i) ++elements[i];
        });
      };
      auto const run = run_stream(one.job, lanes);
      run->fence();
      std::size_t to_host = 0, all = 0;
      for (FakeCuda::Copied const& copy : FakeCuda::copied()) {
        all += copy.bytes;
        to_host +=
            copy.dst >= array.data() && copy.dst < array.data() + array.size() ? copy.bytes : 0;
      }
      Backend::Driver::unlock_pages(array.data(), bytes);
      CAPTURE(memory, devices, run->chunks);
      CHECK(array == Array(rows * width, 2));
      CHECK(to_host == bytes);
      CHECK(all == 2 * bytes);
      CHECK(run->bytes_to_device + run->bytes_to_host == all);
      CHECK(run->chunks >= (memory == few ? 12 : 6));
      CHECK(run->memory <= memory * std::size_t(devices));
      CHECK(lanes.held() == run->memory);
    }
  }
}

}  // namespace StreamTraffic
