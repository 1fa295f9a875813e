// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the guard tells of a buffer that is grown while a copy uses it, as GuardTests.cpp on the fake
// runtime.

#include "GuardedCopies.hpp"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Matchers::ContainsSubstring;
using Copies = GuardedCopies;

TEST_CASE("failure 21: a buffer that is grown while a copy fills it is told of, by its label", "[.guard]") {
  Copies copies;
  TestView received{MiB, "received"};
  copies.begin(received.side(), on_device("halo"));
  TestView const grown{2 * MiB, "grown"};
  std::copy_n(received.data, MiB, grown.data);  // before the copy has filled it
  CHECK(copies.races() == 1);
  CHECK_THAT(copies.said.text(),
             ContainsSubstring("the host reads byte 0 of 'received'") &&
                 ContainsSubstring("while an asynchronous copy from 'halo' fills it"));
  received.destroy();
  copies.end();
  CHECK(copies.races() == 1);
}

TEST_CASE("a source that is grown while a copy reads it is told of only if it is written",
          "[.guard]") {
  Copies copies;
  TestView sent{MiB, "sent"};
  copies.begin(on_device("halo"), sent.side());
  TestView const grown{2 * MiB, "grown"};
  std::copy_n(sent.data, MiB, grown.data);
  sent.destroy();
  CHECK(copies.races() == 0);
  copies.end();
}
