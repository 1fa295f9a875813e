// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// In an executable that has not the other tests of teams: the variables are in each of its threads.

#include "../../../backend/os/Team.hpp"

#include <array>
#include <atomic>
#include <cstddef>

#include <catch2/catch_test_macros.hpp>

using namespace KokkosHostSpaces::Impl::Backend;

namespace {

// With them, hardly anything is left of 1 MiB.
thread_local std::array<char, std::size_t(1000) << 10> variables{1};

}  // namespace

TEST_CASE("threads of a team have room to work, however large a program's thread-local variables") {
  std::atomic<int> done{0};
  auto work = [&] {
    std::array<char volatile, std::size_t(64) << 10> room{};
    for (std::size_t i = 0; i < room.size(); i += 512) room[i] = variables[0];
    done += room[512];
  };
  run({4, Cores::allowed(), false}, work);
  CHECK(done == 4);
}
