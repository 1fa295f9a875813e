// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies as nodes of Kokkos' graphs, with and without a device.

#include "../KokkosTest.hpp"

#include <Kokkos_Graph.hpp>

namespace GraphCopyTests {

namespace {

using Execution = Kokkos::DefaultExecutionSpace;
using Device    = Kokkos::View<int**, Kokkos::LayoutRight, Execution>;
template <class Space, class Layout = Kokkos::LayoutRight>
using Host = Kokkos::View<int**, Layout, Space>;

constexpr int n = 300;

struct AddOne {
  Device view;
  KOKKOS_FUNCTION void operator()(int i) const { ++view(i / n, i % n); }
};

template <class View>
void fill(View const& view, int offset) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) view(i, j) = offset + n * i + j;
}

template <class View>
int wrong(View const& view, int offset) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) count += view(i, j) != offset + n * i + j;
  return count;
}

// A graph that copies to the device, counts up there and copies back. Only the graph holds the View on
// the device.
template <class In, class Out>
Kokkos::Experimental::Graph<Execution> round_trip(In const& in, Out const& out) {
  return Kokkos::Experimental::create_graph<Execution>([&](auto root) {
    Device const device("device", n, n);
    auto const there = khs::then_deep_copy(root, device, in);
    auto const added = there.then_parallel_for("add", n * n, AddOne{device});
    khs::then_deep_copy(added, out, device);
  });
}

}  // namespace

TEMPLATE_TEST_CASE(
    "copies are nodes of a graph, of other layouts and parts of Views, too, at each launch",
    "[graph]", khs::PinnedSpace, khs::MappedSpace) {
  Host<TestType, Kokkos::LayoutLeft> const in("in", n, n);
  Host<TestType> const out("out", n, n), around("around", n + 5, n + 7);
  auto const part  = Kokkos::subview(around, std::pair(2, n + 2), std::pair(3, n + 3));
  auto const graph = round_trip(in, part), contiguous = round_trip(part, out);
  Execution const instance;
  for (int launch = 0; launch < 3; ++launch) {
    fill(in, 7 * launch);
    graph.submit(instance);
    contiguous.submit(instance);
    instance.fence();
    CHECK((wrong(part, 7 * launch + 1) == 0 && wrong(out, 7 * launch + 2) == 0));
  }
  CHECK((around(1, 3) == 0 && around(2, 2) == 0));
}

TEST_CASE(
    "a graph holds its Views until it is destroyed: they may be destroyed before it is launched",
    "[graph]") {
  std::optional<Kokkos::Experimental::Graph<Execution>> graph;
  Host<khs::PinnedSpace> const out("out", n, n);
  void const* data = nullptr;
  auto const state = [&] { return khs::pool::describe(data)->state; };
  {
    Host<khs::PinnedSpace> const in("in", n, n);
    data = in.data();
    fill(in, 3);
    graph = round_trip(in, out);
  }
  std::vector<Host<khs::PinnedSpace>> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back("other", n, n);
    fill(others.back(), 1000);
  }
  Execution const instance;
  for (int launch = 0; launch < 2; ++launch) {
    Kokkos::deep_copy(out, -1);
    graph->submit(instance);
    instance.fence();
    CHECK(wrong(out, 4) == 0);
  }
  for (auto const& other : others) CHECK(wrong(other, 1000) == 0);
  CHECK(state() == khs::pool::State::in_use);
  graph.reset();
  Kokkos::fence();
  CHECK(state() != khs::pool::State::in_use);
}

TEST_CASE("both ends of a diamond are copied, on any instance the graph is submitted to",
          "[graph]") {
  Host<khs::PinnedSpace> const in("in", n, n), left("left", n, n), right("right", n, n);
  Host<khs::PinnedSpace> const out("out", n, n);
  auto const graph = Kokkos::Experimental::create_graph<Execution>([&](auto root) {
    Device const device("device", n, n), other("other", n, n);
    auto const begin = khs::then_deep_copy(root, device, in);
    auto const copy  = begin;
    auto const one   = khs::then_deep_copy(copy, left, device);
    auto const two   = khs::then_deep_copy(begin, other, device);
    auto const both  = Kokkos::Experimental::when_all(one, two);
    auto const added = both.then_parallel_for("add", n * n, AddOne{other});
    khs::then_deep_copy(khs::then_deep_copy(added, right, other), out, left);
  });
  for (auto const& instance : Kokkos::Experimental::partition_space(Execution(), 1, 1)) {
    for (int launch = 0; launch < 3; ++launch) {
      fill(in, launch);
      graph.submit(instance);
      instance.fence();
      CHECK(wrong(left, launch) == 0);
      CHECK(wrong(right, launch + 1) == 0);
      CHECK(wrong(out, launch) == 0);
    }
  }
}

TEST_CASE("a graph copies empty Views, single values, const and unmanaged Views", "[graph]") {
  using Values = Kokkos::View<double*, khs::PinnedSpace>;
  Values const none("none", 0), five("five", 5), copied("copied", 5), same("same", 5);
  Kokkos::View<double, khs::PinnedSpace> const one("one"), there("there");
  Kokkos::View<double, Execution> const device("device");
  Kokkos::View<double*, Kokkos::HostSpace> const pageable("pageable", 5);
  Kokkos::View<double const*, khs::PinnedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const seen(
      five);
  one() = 3;
  Kokkos::Experimental::Graph<Execution> const graph;
  auto node = khs::then_deep_copy(graph.root_node(), none, none);
  auto last = khs::then_deep_copy(khs::then_deep_copy(node, none, 1), Values(), Values());
  auto ones = khs::then_deep_copy(khs::then_deep_copy(last, device, one), there, device);
  auto fill = khs::then_deep_copy(khs::then_deep_copy(ones, five, 2), one, 4.5F);
  auto back = khs::then_deep_copy(khs::then_deep_copy(fill, pageable, seen), copied, pageable);
  khs::then_deep_copy(back, same, same);
  Execution const instance;
  graph.submit(instance);
  graph.submit(instance);
  instance.fence();
  CHECK(there() == 4.5);
  CHECK(copied(4) == 2);
}

TEST_CASE("after an exception a graph can be destroyed, or continued", "[graph]") {
  Host<khs::PinnedSpace> const in("in", n, n), out("out", n, n), small("small", n, 1);
  CHECK_THROWS_AS(Kokkos::Experimental::create_graph<Execution>([&](auto root) {
                    khs::then_deep_copy(khs::then_deep_copy(root, out, in), out, small);
                  }),
                  khs::Error);
  Kokkos::Experimental::Graph<Execution> const graph;
  auto const node = khs::then_deep_copy(graph.root_node(), out, 6);
  CHECK_THROWS_AS(khs::then_deep_copy(node, in, small), khs::Error);
  khs::then_deep_copy(node, in, out);
  Execution const instance;
  graph.submit(instance);
  instance.fence();
  CHECK(in(n - 1, 0) == 6);
}

}  // namespace GraphCopyTests
