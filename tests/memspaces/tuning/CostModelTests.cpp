// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <random>

using namespace KokkosHostSpaces::Impl;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t GiB = std::size_t(1) << 30;

LinkRates measured() {
  LinkRates rates;
  rates.measured = true;
  return rates;
}

// a = b + s c
LoopCost triad(std::size_t bytes, std::size_t chunks) {
  return {.arguments = {{bytes, 0}, {bytes, 0}, {0, bytes}}, .chunks = chunks};
}

}  // namespace

TEST_CASE("a loop over a part of its arrays costs that part, with the halo that it reads",
          "[cost_model]") {
  StreamShape shape;
  shape.buffers           = {{"from", 8, 100}, {"to", 16, 100}};
  shape.buffers[0].loaded = shape.buffers[1].stored = true;
  shape.stages                                      = {{25, 75, {{0, 2, false}, {1, 0, true}}}};
  LoopCost cost                                     = cost_of(shape);
  CHECK(cost.passes == 1);
  CHECK(cost.arguments[0].to_device == 54 * 8);
  CHECK(cost.arguments[1].to_host == 50 * 16);
  shape.stages[0].begin = 1;
  shape.stages[0].end   = 100;
  CHECK(cost_of(shape).arguments[0].to_device == 100 * 8);
  shape.stages[0].end = 1;
  CHECK(cost_of(shape).arguments[0].to_device == 0);
}

TEST_CASE("chunk by chunk takes what it took on an H200", "[cost_model]") {
  struct Measured {
    std::size_t bytes, chunks;  // of each of two arrays that are read
    double seconds;
  };
  for (auto const& [bytes, chunks, seconds] : {Measured{GiB >> 7, 5, 375e-6},
                                               {GiB >> 4, 13, 2.534e-3},
                                               {GiB, 48, 39.28e-3},
                                               {8 * GiB, 131, 312.5e-3}}) {
    LoopCost const sum{.arguments = {{bytes, 0}, {bytes, 0}}, .chunks = chunks};
    TransportEstimate const of = estimate_transports(sum, measured());
    CHECK(of.staged_seconds == Approx(seconds).epsilon(bytes < GiB >> 4 ? 0.08 : 0.03));
    CHECK(of.zero_copy == (bytes == GiB >> 7));
  }
}

TEST_CASE("at the mixes that were measured the link has the rate that was measured",
          "[cost_model]") {
  LinkRates const r = measured();
  CHECK(copy_seconds(1e9, 0, r) == Approx(1e9 / r.to_device));
  CHECK(copy_seconds(0, 1e9, r) == Approx(1e9 / r.to_host));
  CHECK(copy_seconds(1e9, 1e9, r) == Approx(2e9 / r.both));
  CHECK(copy_seconds(2e9, 1e9, r) == Approx(3e9 / r.two_to_one));
  CHECK(in_place_seconds(1e9, 0, r) == Approx(1e9 / r.zero_copy_read));
  CHECK(in_place_seconds(0, 1e9, r) == Approx(1e9 / r.zero_copy_write));
  CHECK(in_place_seconds(2e9, 1e9, r) == Approx(3e9 / r.zero_copy_two_to_one));
  CHECK(copy_seconds(0, 0, r) == 0);
}

TEST_CASE(
    "more bytes never take less time, and both ways at once never more than one after the other",
    "[cost_model]") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> bytes(0, 1e10);
  LinkRates const r = measured();
  for (int i = 0; i < 10'000; ++i) {
    double const in = bytes(random), out = bytes(random), more = bytes(random);
    double const seconds = copy_seconds(in, out, r);
    CHECK(copy_seconds(in + more, out + more, r) > seconds);
    CHECK(seconds <= (in / r.to_device + out / r.to_host) * (1 + 1e-12));
  }
}

TEST_CASE("a large triad is staged at the rate of its mix, a byte over the link once",
          "[cost_model]") {
  auto const estimate = estimate_transports(triad(8 * GiB, 131), measured());  // its chunks
  double const floor  = 24. * double(GiB) / measured().two_to_one;
  CHECK(estimate.staged_seconds >= floor);
  CHECK(estimate.staged_seconds <= 1.01 * floor);
  CHECK_FALSE(estimate.zero_copy);
}

TEST_CASE("without a plan staging is thought no slower than with any", "[cost_model]") {
  for (std::size_t bytes : {std::size_t(4096), std::size_t(1) << 20, GiB}) {
    double const least = estimate_transports(triad(bytes, 0), measured()).staged_seconds;
    for (std::size_t chunks : {1, 2, 3, 10, 1000, 1'000'000})
      CHECK(estimate_transports(triad(bytes, chunks), measured()).staged_seconds >= least);
    CHECK_THAT(explain_transports(triad(bytes, 0), measured()), ContainsSubstring("s or more"));
  }
}

TEST_CASE("one chunk overlaps with nothing", "[cost_model]") {
  LinkRates const r = measured();
  double const link = 2. * GiB / r.to_device + 1. * GiB / r.to_host;
  CHECK(estimate_transports(triad(GiB, 1), r).staged_seconds >= link);
  CHECK(estimate_transports(triad(GiB, 1), r).staged_seconds <= 1.02 * link);
}

TEST_CASE("arrays that are small, or touched little, stay in place", "[cost_model]") {
  LoopCost sparse{.arguments = {{GiB, 0, 0.01}}, .chunks = 64};
  CHECK(estimate_transports(sparse, measured()).zero_copy);
  sparse.arguments[0].fraction = 1;
  CHECK_FALSE(estimate_transports(sparse, measured()).zero_copy);
  CHECK(estimate_transports(triad(4096, 1), measured()).zero_copy);
}

TEST_CASE("each pass crosses the link in place, and none but the first when staged",
          "[cost_model]") {
  LoopCost loop{.arguments = {{GiB, 0, 0.3}}, .passes = 1, .chunks = 64};
  CHECK(estimate_transports(loop, measured()).zero_copy);
  double const once = estimate_transports(loop, measured()).zero_copy_seconds;
  loop.passes       = 8;
  auto const often  = estimate_transports(loop, measured());
  CHECK(often.zero_copy_seconds == Approx(8 * once));
  CHECK_FALSE(often.zero_copy);
  CHECK(often.staged_seconds < 1.05 * double(GiB) / measured().to_device);
}

TEST_CASE("arguments on the device cost staging no transfer", "[cost_model]") {
  LoopCost loop{.arguments = {{GiB, 0, 1, true}, {16, 0}}, .chunks = 1};
  auto const estimate = estimate_transports(loop, measured());
  CHECK_FALSE(estimate.zero_copy);
  CHECK(estimate.staged_seconds < 0.001);
  CHECK(estimate.zero_copy_seconds > 0.02);
}

TEST_CASE("kernels that do more than the link set the pace", "[cost_model]") {
  LoopCost const loop{.arguments = {{GiB, 0}}, .passes = 10'000, .chunks = 64};
  double const kernels = 1e4 * double(GiB) / measured().device_memory;
  double const staged  = estimate_transports(loop, measured()).staged_seconds;
  CHECK(staged > kernels);
  CHECK(staged < 1.1 * kernels);
}

TEST_CASE("what cannot work in place is staged, and why is told", "[cost_model]") {
  LoopCost loop                    = triad(4096, 1);
  loop.not_in_place                = "\"b\" is pageable";
  TransportEstimate const estimate = estimate_transports(loop, measured());
  CHECK_FALSE(estimate.zero_copy);
  CHECK(std::isinf(estimate.zero_copy_seconds));
  CHECK_THAT(explain_transports(loop, measured()),
             ContainsSubstring("staged") && ContainsSubstring("\"b\" is pageable"));
}

TEST_CASE("why tells bytes, times and where the rates are from", "[cost_model]") {
  std::string const why = explain_transports(triad(GiB, 64), measured());
  CHECK_THAT(why, ContainsSubstring("2.147 GB to the device and 1.074 GB to the host") &&
                      ContainsSubstring(" ms") && ContainsSubstring("1 pass") &&
                      !ContainsSubstring("typical"));
  CHECK_THAT(explain_transports(triad(GiB, 64), LinkRates()),
             ContainsSubstring("by typical link rates"));
}

TEST_CASE("a loop without arguments or bytes has an estimate", "[cost_model]") {
  CHECK(std::isfinite(estimate_transports({}, measured()).staged_seconds));
  CHECK(std::isfinite(estimate_transports(triad(0, 0), measured()).zero_copy_seconds));
}
