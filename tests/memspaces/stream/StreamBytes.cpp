// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The bytes that streamed loops copy, by the formula of the documentation; and what is refused.

#include "StreamCases.hpp"

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/stream/plan/DevicePartition.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <map>

using namespace StreamCases;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using KokkosHostSpaces::Error;

namespace {

struct Bytes {
  std::size_t to_device = 0, to_host = 0;
  bool operator==(Bytes const&) const = default;
};

// Of each View that is read: the rows of the range and of the largest halo, as far as they exist.
// Of one that is updated, or written without being read in rows that the range does not cover: the
// rows of the range. To the host: the rows of the range of what is written or updated.
Bytes by_formula(Case const& of) {
  LoopFacts const& loop    = of.loops.front();
  std::int64_t const begin = loop.lower[0], end = loop.upper[0];
  std::map<char*, std::int64_t> halos;
  for (ArgumentFacts const& argument : loop.arguments)
    if (argument.access == Access::read)
      halos[argument.data] = std::max(halos[argument.data], argument.halo);
  Bytes bytes;
  if (begin >= end) return bytes;
  auto const size = [&](std::int64_t rows) { return std::size_t(rows * of.row_bytes()); };
  for (auto const& [data, halo] : halos)
    bytes.to_device +=
        size(std::min(end + halo, of.rows()) - std::max<std::int64_t>(begin - halo, 0));
  for (ArgumentFacts const& argument : loop.arguments) {
    if (argument.access == Access::read) continue;
    bool const whole_rows = loop.lower[1] == 0 && loop.upper[1] == argument.extents[1];
    bool const fetched    = argument.access == Access::update || !whole_rows;
    if (fetched && halos.count(argument.data) == 0) bytes.to_device += size(end - begin);
    bytes.to_host += size(end - begin);
  }
  return bytes;
}

Bytes bytes_of(StreamPlan const& plan) {
  Bytes counted;
  for (StreamOperation const& operation : plan.operations)
    for (std::size_t p = operation.first_piece; p < operation.last_piece; ++p) {
      if (operation.action == StreamAction::load) counted.to_device += plan.pieces[p].bytes;
      if (operation.action == StreamAction::store) counted.to_host += plan.pieces[p].bytes;
    }
  return counted;
}

Array elements(1000);

ArgumentFacts vector(char const* label, Access access, std::int64_t halo = 0, int n = 100,
                     int first = 0) {
  ArgumentFacts facts;
  facts.label         = label;
  facts.space         = "HostPinned";
  facts.side          = Side::page_locked;
  facts.data          = reinterpret_cast<char*>(&elements[std::size_t(first)]);
  facts.element_bytes = sizeof(Number);
  facts.extents[0]    = n;
  facts.access        = access;
  facts.halo          = halo;
  return facts;
}

LoopFacts loop_of(std::vector<ArgumentFacts> arguments, std::int64_t from = 0,
                  std::int64_t to = 100) {
  LoopFacts loop;
  loop.lower[0]  = from;
  loop.upper[0]  = to;
  loop.arguments = std::move(arguments);
  return loop;
}

void check_refused(std::vector<LoopFacts> const& loops, std::string const& words) {
  CHECK_THROWS_MATCHES(
      bind_stream("streamed_for \"test\"", loops), Error,
      MessageMatches(ContainsSubstring(words) && ContainsSubstring("streamed_for \"test\": ")));
}

constexpr auto reads = Access::read, writes = Access::write, updates = Access::update;

}  // namespace

TEST_CASE("a streamed loop copies each row that its arguments imply once, and nothing else",
          "[stream_bytes]") {
  int loops = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Case random(seed);
    if (random.loops.size() > 1) continue;
    ++loops;
    StreamBinding const bound = bind_stream("test", random.loops);
    StreamPlan const plan     = plan_stream("test", bound.shape, random.wishes);
    Bytes const counted       = bytes_of(plan);
    CAPTURE(seed);
    REQUIRE(counted == by_formula(random));
    REQUIRE(counted == Bytes{plan.bytes_to_device, plan.bytes_to_host});
  }
  CHECK(loops > 1000);
}

TEST_CASE("a chain copies its inputs once and its outputs once, whatever the halos and steps",
          "[stream_bytes]") {
  char marks[8];
  std::vector<LoopFacts> loops;
  for (int q = 0; q < 8; ++q) {
    ArgumentFacts from = vector("u", reads, 1), to = vector("v", writes, 0, 100, 100);
    if (q > 0) from.data = nullptr, from.intermediate = &marks[q - 1];
    if (q < 7) to.data = nullptr, to.intermediate = &marks[q];
    loops.push_back(loop_of({from, to}));
  }
  StreamBinding const bound = bind_stream("test", loops);
  StreamPlan const plan =
      plan_stream("test", bound.shape, {.chunk_rows = 7, .memory = std::size_t(1) << 20});
  CHECK(bytes_of(plan) == Bytes{800, 800});
  CHECK(plan.chunks == (100 + 7 + 6) / 7);
}

TEST_CASE("devices that share a loop load one halo on each side of their boundary",
          "[stream_bytes]") {
  StreamBinding const bound =
      bind_stream("test", {loop_of({vector("u", reads, 2), vector("u", writes)})});
  Bytes all;
  for (StreamShape const& part : split_stream(bound.shape, {1, 1, 1})) {
    StreamPlan const plan =
        plan_stream("test", part, {.chunk_rows = 7, .memory = std::size_t(1) << 20});
    all.to_device += plan.bytes_to_device;
    all.to_host += plan.bytes_to_host;
  }
  CHECK(all == Bytes{800 + 2 * 2 * 2 * 8, 800});
}

TEST_CASE("devices that share a reduction load each row once", "[stream_bytes]") {
  StreamBinding const bound = bind_stream("test", {loop_of({vector("u", reads)})});
  Bytes all;
  std::int64_t rows = 0;
  for (StreamShape const& part : split_stream(bound.shape, {1, 1, 2, 1})) {
    rows += part.stages[0].end - part.stages[0].begin;
    StreamPlan const plan =
        plan_stream("test", part, {.chunk_rows = 7, .memory = std::size_t(1) << 20});
    CHECK(plan.chunks > 1);
    all.to_device += plan.bytes_to_device;
  }
  CHECK(rows == 100);
  CHECK(all == Bytes{800, 0});
}

TEST_CASE("a plan keeps to its memory, or says what it would take", "[stream_bytes]") {
  StreamBinding const bound =
      bind_stream("test", {loop_of({vector("u", reads, 2), vector("v", writes, 0, 100, 100)})});
  StreamPlan const plan = plan_stream("test", bound.shape, {.slots = 2, .memory = 3000});
  CHECK(plan.memory <= 3000);
  CHECK(plan.chunk_rows > 1);
  CHECK_THROWS_MATCHES(
      plan_stream("test", bound.shape, {.memory = 1000}), Error,
      MessageMatches(ContainsSubstring("may take 1000") && ContainsSubstring("\"u\"") &&
                     ContainsSubstring("device_memory")));
  CHECK_THROWS_MATCHES(plan_stream("test", bound.shape, {.chunk_rows = 90, .memory = 4000}), Error,
                       MessageMatches(ContainsSubstring("a chunk of 90 rows is too large")));
}

TEST_CASE("arguments that do not fit are refused, and the message says what to do",
          "[stream_bytes]") {
  check_refused({loop_of({})}, "no argument");
  check_refused(
      {loop_of({vector("a", reads), vector("b", writes, 0, 99, 200)})},
      "\"b\" (99; 792 bytes) in HostPinned and \"a\" (100; 800 bytes) in HostPinned differ");
  check_refused({loop_of({vector("a", reads)}, 0, 101)}, "the range goes from 0 to 101");
  check_refused({loop_of({vector("a", reads, 101)})}, "the halo of \"a\"");
  check_refused({loop_of({vector("a", reads, -1)})}, "the halo of \"a\"");
  check_refused({loop_of({vector("a", writes), vector("b", writes, 0, 100, 50)})}, "overlaps");
  check_refused({loop_of({vector("a", writes), vector("b", reads, 0, 100, 1)})}, "overlaps");
  check_refused({loop_of({vector("a", writes), vector("b", writes)})}, "written twice");
  check_refused({loop_of({vector("a", updates), vector("b", reads)})}, "say `update` alone");
  check_refused({loop_of({vector("a", writes)}), loop_of({vector("a", writes)})}, "written twice");
  ArgumentFacts device = vector("d", reads);
  device.side          = Side::device;
  device.space         = "Cuda";
  check_refused({loop_of({device})}, "\"d\" (100; 800 bytes) in Cuda is device memory");
  ArgumentFacts gaps = vector("g", reads);
  gaps.contiguous    = false;
  check_refused({loop_of({gaps})}, "has gaps");
  ArgumentFacts left = vector("l", reads), right = vector("r", reads);
  left.rank = right.rank = 2;
  left.layout_right      = false;
  check_refused({loop_of({right, left})}, "HostPinned are LayoutRight and LayoutLeft");
  check_refused({loop_of({left, right})}, "HostPinned are LayoutLeft and LayoutRight");
  check_refused({loop_of({left})}, "has more dimensions than the range");
  ArgumentFacts deep = left;
  deep.rank          = 3;
  LoopFacts both     = loop_of({left, deep});
  both.rank          = 2;
  check_refused({both}, "\"l\" (100,1,1; 800 bytes) in HostPinned is LayoutLeft and has more");
  char mark;
  ArgumentFacts between = vector("t", reads);
  between.data          = nullptr;
  between.intermediate  = &mark;
  check_refused({loop_of({vector("a", writes), between})}, "\"t\", an intermediate array, is read");
}

TEST_CASE("what is touched of an argument is a part of it", "[stream_bytes]") {
  for (double const part : {-0.1, 1.1, std::nan("")}) {
    ArgumentFacts argument = vector("a", reads);
    argument.touched       = part;
    check_refused({loop_of({argument})}, "take a part from 0 to 1");
  }
}

TEST_CASE("a stage that reads what the one before it leaves out is refused", "[stream_bytes]") {
  char mark;
  ArgumentFacts made = vector("t", writes), used = vector("t", reads, 1);
  made.data = used.data = nullptr;
  made.intermediate = used.intermediate = &mark;
  check_refused({loop_of({vector("a", reads), made}, 1, 99),
                 loop_of({used, vector("b", writes, 0, 100, 100)}, 1, 99)},
                "\"t\" is read from 0 to 100 in index 0 (its stage writes from 1 to 99)");
}
