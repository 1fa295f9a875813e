// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Arguments of streamed loops that are refused, and the messages that say why.

#include "StreamCases.hpp"
#include "../../support/Tests.hpp"

namespace StreamBindingTests {

using namespace StreamCases;
using KokkosHostSpaces::Error;

namespace {

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

TEST_CASE("arguments that do not fit are refused, and the message says what to do") {
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

TEST_CASE("a stage that reads what the one before it leaves out is refused") {
  char mark;
  ArgumentFacts made = vector("t", writes), used = vector("t", reads, 1);
  made.data = used.data = nullptr;
  made.intermediate = used.intermediate = &mark;
  check_refused({loop_of({vector("a", reads), made}, 1, 99),
                 loop_of({used, vector("b", writes, 0, 100, 100)}, 1, 99)},
                "\"t\" is read from 0 to 100 in index 0 (its stage writes from 1 to 99)");
}

}  // namespace StreamBindingTests
