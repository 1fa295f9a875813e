// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Snapshots: what writers get, in which order, and what becomes of their errors. On a GPU the same.

#include "../../backend/CapturedStderr.hpp"
#include "../../support/ChildOfFork.hpp"
#include "../../support/SignalMask.hpp"
#include "../../support/WatchedThread.hpp"

#include "../KokkosTest.hpp"

namespace SnapshotTests {

using Execution = Kokkos::DefaultExecutionSpace;
using Field     = Kokkos::View<int*, Execution>;

Field field_of(int value, int length = 1000) {
  Field const field("field", std::size_t(length));
  Kokkos::deep_copy(Execution(), field, value);
  return field;
}

template <class View>
bool all_are(View const& view, int value) {
  bool all = true;
  for (std::size_t i = 0; i < view.size(); ++i) all &= view.data()[i] == value;
  return all;
}

// Holds a writer until it is opened.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    m_open->store(true);
    m_open->notify_all();
  }
  auto hold() const {
    return [open = m_open](auto const&...) { open->wait(false); };
  }

 private:
  std::shared_ptr<std::atomic<bool>> m_open = std::make_shared<std::atomic<bool>>(false);
};

// Opens the gate when the thread that makes this waits, as for a writer that the gate holds.
class OpenedWhenThisWaits {
 public:
  explicit OpenedWhenThisWaits(Gate& gate)
      : m_opener([&gate, thread = gettid()] {
          wait_until_asleep(thread);
          gate.open();
        }) {}

 private:
  std::jthread m_opener;
};

TEST_CASE("a writer gets the contents of the moment of the call, also of a View that is gone",
          "[snapshot]") {
  Execution const instance;
  std::vector<int> seen;
  khs::Snapshot last;
  {
    auto const field = field_of(0);
    for (int step = 1; step <= 20; ++step) {
      Kokkos::deep_copy(instance, field, step);
      last = khs::snapshot("steps", instance, field,
                           [&seen, step](khs::SnapshotView<Field> const& host) {
                             seen.push_back(all_are(host, step) && host.size() == 1000 ? step : -1);
                           });
    }
  }
  last.fence();
  CHECK(last.is_done());
  REQUIRE(seen.size() == 20);
  for (int step = 1; step <= 20; ++step) CHECK(seen[std::size_t(step - 1)] == step);
}

TEST_CASE("host Views have the label, the extents and the order of the source, without its gaps",
          "[snapshot]") {
  Execution const instance;
  Kokkos::View<int**, Kokkos::LayoutLeft, Execution> const left("left", 5, 7);
  Kokkos::View<int** [3], Kokkos::LayoutRight, Execution> const right("right", 4, 6);
  Kokkos::View<int, Execution> const scalar("scalar");
  auto const part = Kokkos::subview(right, Kokkos::ALL, 2, Kokkos::pair(1, 3));
  auto const host = Kokkos::create_mirror_view(right);
  for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] = int(i);
  Kokkos::deep_copy(instance, left, 3);
  Kokkos::deep_copy(instance, scalar, 4);
  Kokkos::deep_copy(right, host);
  int checked = 0;
  khs::snapshot(
      "layouts", instance, left, right, scalar, part, Field(),
      [&](auto const& l, auto const& r, auto const& s, auto const& p, auto const& none) {
        using Left = std::decay_t<decltype(l)>;
        static_assert(std::is_same_v<typename Left::array_layout, Kokkos::LayoutLeft>);
        static_assert(std::is_same_v<typename Left::value_type, int const>);
        static_assert(std::is_same_v<typename Left::memory_space, khs::PinnedSpace>);
        checked += l.label() == "left" && l.extent(0) == 5 && l.extent(1) == 7 && all_are(l, 3);
        checked += r.extent(0) == 4 && r(3, 5, 2) == host(3, 5, 2) && s() == 4 && none.size() == 0;
        checked += p.span_is_contiguous() && p.extent(0) == 4 && p.extent(1) == 2 &&
                   p(3, 1) == host(3, 2, 2);
      })
      .fence();
  CHECK(checked == 3);
}

TEST_CASE(
    "a writer may be an object that only moves, may keep its Views, and is destroyed before the fence returns",
    "[snapshot]") {
  auto const alive = std::make_shared<int>(3);
  int seen         = 0;
  khs::SnapshotView<Field> kept;
  khs::SnapshotQueue queue;
  queue.take("moves", Execution(), field_of(1),
             [&, own = std::make_unique<std::shared_ptr<int>>(alive)](auto const& host) {
               seen = **own;
               kept = host;
             });
  queue.fence();
  CHECK(seen == 3);
  CHECK((queue.bytes_in_flight() == 0 && all_are(kept, 1)));
  CHECK(alive.use_count() == 1);
}

TEST_CASE(
    "the first error of writers is thrown by the next fence, once, and later writers are called",
    "[snapshot]") {
  khs::SnapshotQueue queue;
  auto const field = field_of(1);
  int called       = 0;
  auto const first = queue.take("good", Execution(), field, [&](auto const&) { ++called; });
  queue.take("bad", Execution(), field, [](auto const&) { throw std::bad_alloc(); });
  queue.take("worse", Execution(), field, [](auto const&) { throw 7; });
  auto const last = queue.take("good", Execution(), field, [&](auto const&) { ++called; });
  first.fence();  // which is older than the error
  CapturedStderr const said;
  CHECK_THROWS_AS(last.fence(), std::bad_alloc);
  CHECK_THAT(said.text(), ContainsSubstring("the snapshot \"bad\" failed"));
  CHECK(called == 2);
  last.fence();
  queue.fence();
  {
    khs::SnapshotQueue no_fence;
    no_fence.take("lost", Execution(), field, [](auto const&) { throw 7; });
  }
  CHECK_THAT(said.text(), ContainsSubstring("the snapshot \"lost\" failed, and no fence told so"));
}

TEST_CASE("a full queue waits, and one snapshot may not exceed it", "[snapshot]") {
  constexpr std::size_t one = 1000 * sizeof(int);
  auto const field          = field_of(1);
  Gate gate;
  khs::SnapshotQueue waits({.bytes_in_flight = 2 * one});
  waits.take("first", Execution(), field, gate.hold());
  waits.take("second", Execution(), field, [](auto const&) {});
  CHECK(waits.bytes_in_flight() == 2 * one);
  CHECK_THROWS_WITH(waits.take("large", Execution(), field_of(1, 2001), [](auto const&) {}),
                    ContainsSubstring("large: 8004 bytes do not fit into the 8000 bytes"));
  std::atomic<pid_t> taker  = 0;
  std::atomic<bool> entered = false;
  std::thread other([&] {
    taker = gettid();
    waits.take("third", Execution(), field, [](auto const&) {});
    entered = true;
  });
  while (taker == 0) std::this_thread::yield();
  wait_until_asleep(taker);
  CHECK_FALSE(entered);
  gate.open();
  other.join();
  waits.fence();
  CHECK(waits.bytes_in_flight() == 0);
  waits.take("fits again", Execution(), field, [](auto const&) {}).fence();
}

TEST_CASE("a writer may take snapshots, and is refused what would wait for itself", "[snapshot]") {
  constexpr std::size_t one = 1000 * sizeof(int);
  auto const field          = field_of(2);
  khs::SnapshotQueue queue({.bytes_in_flight = 2 * one});
  int inner = 0, refused = 0;
  queue.take("outer", Execution(), field, [&](auto const& host) {
    queue.take("inner", Execution(), host, [&](auto const& again) { inner += all_are(again, 2); });
    try {
      queue.take("too many", Execution(), host, [](auto const&) {});
    } catch (khs::Error const&) {
      ++refused;
    }
    try {
      queue.fence();
    } catch (khs::Error const&) {
      ++refused;
    }
  });
  queue.fence();
  queue.fence();  // that which a writer took
  CHECK(inner == 1);
  CHECK(refused == 2);
}

TEST_CASE("destroying a queue waits for its writers; a handle may outlive it", "[snapshot]") {
  int called = 0;
  khs::Snapshot bad;
  {
    khs::SnapshotQueue queue;
    for (int i = 0; i < 50; ++i)
      queue.take("work", Execution(), field_of(i),
                 [&, i](auto const& host) { called += all_are(host, i); });
    bad =
        queue.take("bad", Execution(), field_of(1), [](auto const&) { throw khs::Error("told"); });
  }
  CHECK(called == 50);
  CHECK(bad.is_done());
  CHECK_THROWS_WITH(bad.fence(), "told");
}

TEST_CASE("a writer may destroy the queue that calls it", "[snapshot]") {
  auto owner = std::make_shared<std::optional<khs::SnapshotQueue>>();
  owner->emplace();
  std::atomic<int> called = 0;
  khs::Snapshot last;
  {
    Gate gate;
    (*owner)->take("held", Execution(), field_of(1), gate.hold());
    (*owner)->take("destroys", Execution(), field_of(1),
                   [owner, &called](auto const&) { ++called; });
    last = (*owner)->take("later", Execution(), field_of(1), [&](auto const&) { ++called; });
    owner.reset();
  }
  last.fence();
  CHECK(called == 2);
}

TEST_CASE("the thread of writers leaves signals to the application", "[snapshot]") {
  khs::SnapshotQueue queue;
  bool leaves = false;
  queue
      .take("mask", Execution(), field_of(1),
            [&](auto const&) { leaves = leaves_signals_to_others(); })
      .fence();
  CHECK(leaves);
}

TEST_CASE("memory that cannot be had leaves no snapshot behind", "[snapshot]") {
  khs::SnapshotQueue queue({.bytes_in_flight = std::size_t(1) << 60});
  Kokkos::View<char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const huge(nullptr, std::size_t(1)
                                                                                          << 50);
  CHECK_THROWS_AS(queue.take("huge", Kokkos::DefaultHostExecutionSpace(), huge, [](auto const&) {}),
                  khs::OutOfPinnedMemory);
  struct Throws {
    Throws() = default;
    Throws(Throws const&) { throw std::bad_alloc(); }
    void operator()(khs::SnapshotView<Field> const&) {}
  } const throws;
  CHECK_THROWS_AS(queue.take("no writer", Execution(), field_of(1), throws), std::bad_alloc);
  CHECK(queue.bytes_in_flight() == 0);
  queue.fence();
}

TEST_CASE(
    "a snapshot waits at the pool's limit for writers of its queue and of others, unless none can end",
    "[snapshot]") {
  constexpr std::size_t one = std::size_t(8) << 20;
  auto const field          = field_of(1, int(one / sizeof(int)));
  Kokkos::fence();  // what work of other cases still holds would be room later
  khs::pool::trim(0);
  khs::pool::set_limit(khs::pool::statistics().total.bytes_in_use + one + one / 2);
  std::atomic<int> written = 0, refused = 0;
  {
    khs::SnapshotQueue outputs, checkpoints;
    Gate full;
    OpenedWhenThisWaits const opener(full);
    for (int i = 0; i < 5; ++i) {
      auto const slowly = [&, hold = full.hold()](auto const&) {
        hold();
        ++written;
      };
      CHECK_NOTHROW(outputs.take("output", Execution(), field, slowly));
      CHECK_NOTHROW(checkpoints.take("checkpoint", Execution(), field, slowly));
      CHECK_NOTHROW(khs::snapshot("by function", Execution(), field, slowly));
    }
    outputs.fence();
    checkpoints.fence();
    // Its memory comes back when it has ended, and the one behind it waits for that.
    outputs.take("takes another", Execution(), field, [&](auto const&) {
      try {
        checkpoints.take("another", Kokkos::DefaultHostExecutionSpace(), field_of(1, one / 4),
                         [](auto const&) {});
      } catch (khs::OutOfPinnedMemory const&) {
        ++refused;
      }
    });
    outputs.fence();
  }
  khs::snapshot("the last", Execution(), field_of(1), [](auto const&) {}).fence();
  CHECK(written == 15);
  CHECK(refused == 1);
  khs::pool::set_limit(0);
}

TEST_CASE("a tool may take a snapshot when it is told that memory is taken for one", "[snapshot]") {
  using namespace Kokkos::Tools::Experimental;
  static std::atomic<int> taken;
  taken                 = 0;
  EventSet const before = get_callbacks();
  set_allocate_data_callback(
      [](Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t) {
        static thread_local bool is_inside = false;
        if (std::exchange(is_inside, true)) return;
        khs::snapshot("of the tool", Execution(), field_of(1), [](auto const&) { ++taken; });
        is_inside = false;
      });
  int written = 0;
  khs::snapshot("of the program", Execution(), field_of(2), [&](auto const&) {
    ++written;
  }).fence();
  set_callbacks(before);
  khs::snapshot("the last", Execution(), field_of(1), [](auto const&) {}).fence();
  CHECK(written == 1);
  CHECK(taken > 0);
}

TEST_CASE("snapshots of several threads wait for each other at the pool's limit", "[snapshot]") {
  constexpr std::size_t one = std::size_t(8) << 20;
  constexpr int each        = 20;
  khs::pool::trim(0);
  khs::pool::set_limit(khs::pool::statistics().total.bytes_locked + one + one / 2);
  khs::SnapshotQueue queue({.bytes_in_flight = 100 * one});
  std::atomic<int> written = 0, refused = 0;
  auto const field = field_of(1, int(one / sizeof(int)));
  auto const take  = [&] {
    for (int i = 0; i < each; ++i) {
      try {
        queue.take("one of two", Execution(), field, [&](auto const&) { ++written; });
      } catch (khs::OutOfPinnedMemory const&) {
        ++refused;
      }
    }
  };
  std::thread other(take);
  take();
  other.join();
  queue.fence();
  CHECK(refused == 0);
  CHECK(written == 2 * each);
  khs::pool::set_limit(0);
}

#ifndef KOKKOS_ENABLE_CUDA
TEST_CASE(
    "the child of a fork is told that it has no thread, and waits for no writer of its parent",
    "[snapshot]") {
  auto queue = std::make_unique<khs::SnapshotQueue>();
  Gate gate;
  auto const handle = queue->take("held", Execution(), field_of(1), gate.hold());
  CHECK(ChildOfFork::status([&] {
          int told           = 0;
          auto const is_told = [&](auto const& call) {
            try {
              call();
            } catch (khs::Error const&) {
              ++told;
            }
          };
          is_told([&] { queue->fence(); });
          is_told([&] { queue->take("child", Execution(), Field(), [](auto const&) {}); });
          queue.reset();
          is_told([] {
            khs::SnapshotQueue own({.bytes_in_flight = std::size_t(1) << 60});
            Kokkos::View<char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const huge(
                nullptr, std::size_t(1) << 50);
            own.take("huge", Execution(), huge, [](auto const&) {});
          });
          return told;
        }) == 3);
  gate.open();
  handle.fence();
}
#else

TEST_CASE("a snapshot returns before the work that it is ordered behind is done", "[snapshot]") {
  auto const instances = Kokkos::Experimental::partition_space(Execution(), 1, 1);
  Kokkos::View<int, khs::MappedSpace> const open("open");
  Kokkos::View<int*, Execution> const field("field", 1 << 20);
  auto const* const flag = open.data();
  auto const other       = field_of(2);  // freed at the end: cudaFree waits for the kernel
  std::vector<int> order;
  khs::SnapshotQueue queue;
  Kokkos::parallel_for(
      "hold", Kokkos::RangePolicy<Execution>(instances[0], 0, 1), KOKKOS_LAMBDA(int) {
        while (*static_cast<int const volatile*>(flag) == 0) {
        }
        field(0) = 1;
      });
  auto const held =
      queue.take("held", instances[0], field, [&](auto const& host) { order.push_back(host(0)); });
  queue.take("free", instances[1], other, [&](auto const& host) { order.push_back(host(0)); });
  instances[1].fence();
  CHECK_FALSE(held.is_done());
  *static_cast<int volatile*>(open.data()) = 1;
  queue.fence();
  CHECK(order == std::vector{1, 2});
}

#endif

}  // namespace SnapshotTests
