// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include "../../support/Tests.hpp"

using namespace KokkosHostSpaces::Impl;

namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

// A loop over arrays of 1 KiB rows.
StreamShape loop_over(std::size_t bytes, int arrays = 1, double touched = 1,
                      std::int64_t halo = 0) {
  StreamShape shape;
  shape.stages.push_back({0, std::int64_t(bytes >> 10), {}});
  for (int a = 0; a < arrays; ++a) {
    shape.buffers.push_back({.name = "u", .row_bytes = 1024, .rows = 1 << 20, .loaded = true});
    shape.buffers.back().touched = touched;
    shape.stages[0].accesses.push_back({a, halo, false, false});
  }
  return shape;
}

std::string why(StreamShape const& shape) { return choose_transport(shape, false).why; }

}  // namespace

// Sizes are of an array. The rule differs from these measurements in an update of 8 MiB.
TEST_CASE("the rule takes what was faster on an H200", "[transport_rule]") {
  for (std::size_t const bytes : {MiB >> 6, MiB >> 3, MiB, 8 * MiB, 64 * MiB}) {
    CAPTURE(bytes);
    for (int const arrays : {1, 2, 3})
      CHECK(choose_transport(loop_over(bytes, arrays), false).in_place == (bytes <= 8 * MiB));
    for (double const touched : {1. / 2, 1. / 10, 1. / 100})
      CHECK(choose_transport(loop_over(bytes, 2, touched), false).in_place);
  }
  for (std::size_t const bytes : {16 * MiB, 256 * MiB})
    CHECK_FALSE(choose_transport(loop_over(bytes, 1, 1, 1), false).in_place);
}

TEST_CASE("each reason has words, with the numbers that it follows from", "[transport_rule]") {
  auto const check = [](StreamShape const& shape, bool coherent, bool in_place,
                        std::string const& words) {
    TransportChoice const choice = choose_transport(shape, coherent);
    CHECK(choice.in_place == in_place);
    CHECK_THAT(choice.why, ContainsSubstring(words));
  };
  check(loop_over(MiB), false, true, "1048576 bytes");
  check(loop_over(MiB), false, true, "8 MiB");
  check(loop_over(64 * MiB, 1, 0.25), false, true, "25 %");
  check(loop_over(64 * MiB), false, false, "67108864 bytes, 100 %");
  check(loop_over(4096, 1, 0.01, 1), false, false, "halo");
  check(loop_over(512 * MiB), true, true, "coherently");
  check(loop_over(512 * MiB, 1, 1, 1), true, true, "coherently");
  StreamShape chain = loop_over(4096);
  chain.stages.push_back(chain.stages[0]);
  for (bool const coherent : {true, false}) check(chain, coherent, false, "passes");
}

TEST_CASE("the rows of the loop count, and no array that is on the device already",
          "[transport_rule]") {
  StreamShape shape = loop_over(512 * MiB, 2);
  CHECK_THAT(why(shape), ContainsSubstring("more than half"));
  shape.buffers[1].touched = 0;
  CHECK_THAT(why(shape), ContainsSubstring("at most half"));
  shape.buffers[1].fixed = true;
  CHECK_THAT(why(shape), ContainsSubstring("more than half"));
  shape.stages[0].begin = shape.stages[0].end - 10;
  CHECK_THAT(why(shape), ContainsSubstring("no array has more"));
  CHECK_THAT(why(shape), ContainsSubstring("10240 bytes"));
  shape.stages[0].end = 0;
  CHECK_THAT(why(shape), ContainsSubstring("no array has more"));
  CHECK_THAT(why({}), ContainsSubstring("no array has more"));
}

TEST_CASE("devices share a loop by the rates of their links, in sixteenths", "[transport_rule]") {
  CHECK(weights_by({55e9, 56e9, 27e9}) == std::vector<double>{1, 1, 0.5});
  CHECK(weights_by({27e9}) == std::vector<double>{1});
  CHECK(weights_by({}).empty());
  CHECK(weights_by({55e9, 0, 27e9}) == std::vector<double>{1, 1, 1});
}
