// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/os/Team.hpp"
#include "../../../backend/os/Threads.hpp"
#include "../../../backend/os/Topology.hpp"
#include "../../support/SignalMask.hpp"
#include "../BackendTest.hpp"

#include <sched.h>
#include <sys/resource.h>

namespace {

struct Seen {
  std::mutex mutex;
  std::set<std::thread::id> threads;

  void operator()() {
    std::lock_guard const lock(mutex);
    threads.insert(std::this_thread::get_id());
  }
};

}  // namespace

TEST_CASE("threads of the library leave signals to the application, and its own thread as it was") {
  std::atomic<int> leave{0};
  auto work = [&] { leave += leaves_signals_to_others(); };
  run({3, Cores::allowed(), false}, work);
  start_thread(work).join();
  start_thread<std::jthread>(work).join();
  CHECK(leave == 5);
  CHECK_FALSE(leaves_signals_to_others());
}

TEST_CASE("new threads run on the cores of the team, whatever the caller is bound to") {
  std::atomic<int> wrong{0};
  // In a thread of its own, so that the test's thread keeps its affinity.
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
    auto count_cores = [&] {
      cpu_set_t bound;
      sched_getaffinity(0, sizeof bound, &bound);
      if (CPU_COUNT(&bound) != Cores::allowed().count()) ++wrong;
    };
    run({3, Cores::allowed(), false}, count_cores);
    CHECK(wrong == 0);
    run({1, Cores::allowed(), true}, count_cores);
    CHECK(wrong == (Cores::allowed().count() == 1 ? 0 : 1));  // the caller is left as it is
  }).join();
}

TEST_CASE("the cores of a process are those that its threads are bound to, and no others") {
  std::vector<std::size_t> cores;
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &all)) cores.push_back(i);
  if (cores.size() < 2) SKIP("this machine has one core");
  auto const bind_to = [](std::size_t core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
  };
  // In a child, which has one thread.
  CHECK(ChildOfFork::status([&] {
          auto const are = [](int wanted) {
            return Cores::allowed().count() == wanted &&
                   Topology::machine().cores_for(-1).count() == wanted &&
                   Topology::machine().cores_for(0).count() <= wanted;
          };
          bind_to(cores[0]);
          bool right = are(1);
          std::thread([&] {
            bind_to(cores[1]);
            right = right && are(2);
          }).join();
          return right && are(1) ? 0 : 1;
        }) == 0);
}

TEST_CASE("where the system refuses threads, the caller does the work") {
  if (geteuid() == 0) SKIP("root may have as many threads as it likes");
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_NPROC, &before) == 0);
  rlimit const none = {0, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NPROC, &none) == 0);
  Seen seen;
  run({4, Cores::allowed(), false}, seen);
  setrlimit(RLIMIT_NPROC, &before);
  CHECK(seen.threads.contains(std::this_thread::get_id()));
}
