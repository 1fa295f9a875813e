// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Loops that choose their transport, on the made-up CUDA runtime.

#include "StreamJobs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace StreamChoice {

using namespace StreamCases;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr LinkRates slow_in_place{
    .zero_copy_read = 1e6, .zero_copy_write = 1e6, .zero_copy_two_to_one = 1e6};

// Adds one to each number of an array, by a transport that is chosen.
struct Increase : OneArray {
  explicit Increase(LinkRates const& rates) : OneArray({0}, Access::update) {
    job.transport = Transport::automatic;
    job.rates     = [rates](std::size_t) { return rates; };
    job.launch    = [this](std::size_t target, StreamLaunch const& launch) {
      launches.push_back({target, launch.chunk});
      streams[target]->run([launch, rows = launch.first_rows[0]] {
        auto* const numbers = reinterpret_cast<Number*>(rows);
        for (std::int64_t i = launch.begin; i < launch.end; ++i) ++numbers[i];
      });
    };
  }

  std::shared_ptr<StreamedState> run() {
    auto loop = run_stream(job, lanes);
    loop->fence();
    CHECK(array == Array(rows, 2));
    return loop;
  }

  StreamResourcePool lanes{allocate, std::size_t(1) << 30};
};

}  // namespace

TEST_CASE("what is faster in place takes no device memory, and is told") {
  FakeCuda::reset();
  Increase loop{LinkRates()};
  auto const state = loop.run();
  CHECK(state->transport == Transport::zero_copy);
  CHECK(state->bytes_to_device + state->bytes_to_host + state->memory == 0);
  CHECK(loop.lanes.held() == 0);
  CHECK_THAT(state->why(), ContainsSubstring("zero-copy, which carries 8 kB to the device") &&
                               ContainsSubstring("by typical link rates"));
}

TEST_CASE("what is faster in chunks is staged, in as many as are told") {
  FakeCuda::reset();
  Increase loop{slow_in_place};
  auto const state = loop.run();
  CHECK(state->transport == Transport::staged);
  CHECK(state->bytes_to_device == sizeof(Number) * OneArray::rows);
  CHECK(state->chunks == std::int64_t(loop.launches.size()));
  CHECK(state->chunk_rows == 50);
  CHECK(state->memory == loop.lanes.held());
  CHECK_THAT(state->why(), ContainsSubstring("staged, which copies 8 kB to the device"));
}

TEST_CASE("what kernels cannot do in place is staged, whatever the rates") {
  for (bool const pageable : {true, false}) {
    FakeCuda::reset();
    Increase loop{LinkRates()};
    if (pageable)
      loop.job.binding.pageable = "\"u\"";
    else
      loop.job.binding.in_place = true;
    auto const state = loop.run();
    CHECK(state->transport == Transport::staged);
    CHECK_THAT(state->why(), ContainsSubstring(pageable ? "\"u\" is not page-locked"
                                                        : "find new values where they read"));
  }
}

TEST_CASE("what does not fit the device memory is done in place, or refused before it begins") {
  for (bool const in_place : {true, false}) {
    FakeCuda::reset();
    Increase loop{slow_in_place};
    loop.job.wishes.memory = 3 * 512 - 1;
    if (in_place) {
      auto const state = loop.run();
      CHECK(state->transport == Transport::zero_copy);
      CHECK(state->memory == 0);
      CHECK_THAT(state->why(), ContainsSubstring("staging is not possible: ") &&
                                   ContainsSubstring("may take 1535"));
    } else {
      loop.job.binding.in_place = true;
      CHECK_THROWS_AS(run_stream(loop.job, loop.lanes), Error);
      CHECK(loop.launches.empty());
      CHECK(FakeCuda::calls("cudaEventRecord") == 0);
    }
    CHECK(loop.lanes.held() == 0);
  }
}

}  // namespace StreamChoice
