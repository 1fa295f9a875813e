// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that is locked before it is needed.

#include "../os/AvailableMemory.hpp"
#include "PoolTest.hpp"

#include <exception>
#include <latch>
#include <system_error>

#include <sys/resource.h>
#include <sys/wait.h>

TEST_CASE("threads reserve at the same time, any number of times, and leave no threads behind") {
  PoolTest const test;
  auto const addresses = [] { return figure_in("/proc/self/status", "VmSize:") << 10; };
  auto const reserve   = [](int) {
    for (int round = 0; round < 50; ++round) Pool::reserve(64 * KiB).wait();
  };
  in_threads(4, reserve);
  std::size_t const before = addresses();
  in_threads(4, reserve);
  // A thread that is not joined keeps its stack of 8 MiB.
  CHECK(addresses() < before + 400 * MiB);
  CHECK(PoolTest::usage().bytes_cached >= 400 * 64 * KiB);
}

TEST_CASE("where the system gives no thread the refusal is the library's, with what to do") {
  if (sanitized) SKIP("a sanitizer does not stand a limit of addresses");
  PoolTest const test;
  Pool::deallocate(PoolTest::allocate(1000));
  std::atomic<bool> done = false;
  std::vector<std::jthread> holders;  // of the stacks that the C library kept
  holders.reserve(1000);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit const none{1, before.rlim_max};  // no stack for a thread
  std::string message;
  REQUIRE(setrlimit(RLIMIT_AS, &none) == 0);
  try {
    while (holders.size() < 1000) holders.emplace_back([&] { done.wait(false); });
  } catch (std::system_error const&) {
  }
  try {
    Pool::reserve(4 * MiB).wait();
  } catch (Error const& error) {
    message = error.what();
  } catch (std::exception const& other) {
    message = std::string("not ours: ") + other.what();
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  done = true;
  done.notify_all();
  CHECK_THAT(message, ContainsSubstring("system") && !ContainsSubstring("not ours"));
  Pool::reserve(4 * MiB).wait();
}

TEST_CASE("in the child of a fork a reservation cannot be waited for, and says so") {
  PoolTest const test;
  pool::Reservation const reservation = PoolTest::reserve(64 * MiB, MiB);
  CHECK(ChildOfFork::status([&] {
          bool const told = !refusal_of([&] { reservation.wait(); }).empty();
          return told || reservation.finished() ? 0 : 1;
        }) == 0);
  reservation.wait();
}

TEST_CASE("failure 14: children that are forked while memory is reserved end") {
  PoolTest const test;
  constexpr int forks = 60;
  char* const block   = PoolTest::allocate(1000);
  int failed          = 0;
  for (int i = 0; i < forks; ++i) {
    pool::Reservation const reservation = PoolTest::reserve(8 * MiB, 64 * KiB);
    failed += ChildOfFork::status([&] {
      Pool::deallocate(block);
      std::vector<int> const memory_of_libc(1000, 1);
      return pool::trim(0) == 0 && memory_of_libc[500] == 1 ? 0 : 1;
    });
    reservation.wait();
    if (i % 10 == 0) pool::trim(0);
  }
  CHECK(failed == 0);
  Pool::deallocate(block);
}

TEST_CASE("at a limit, what lies ready makes room for what is reserved") {
  PoolTest const test;
  Pool::deallocate(PoolTest::allocate(40 * MiB));
  pool::set_limit(64 * MiB);
  pool::Reservation const reservation = Pool::reserve(60 * MiB);
  CHECK_NOTHROW(reservation.wait());
  CHECK(reservation.bytes_done() == 60 * MiB);
}
