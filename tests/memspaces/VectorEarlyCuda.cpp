// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels of a VectorPolicy start before earlier work of their stream is done, and wait for it by
// themselves: each one here reads what the one before wrote, so that a wait too few is a wrong
// number.

#include "Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <Kokkos_Graph.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <thread>
#include <vector>

namespace khs = KokkosHostSpaces;

namespace {

using OnDevice = Kokkos::View<double*, Kokkos::CudaSpace>;
using Pinned   = Kokkos::View<double*, khs::PinnedSpace>;
using Number   = Kokkos::View<double, Kokkos::CudaSpace>;

// Each element from another block's: a kernel that ran too early would meet old ones.
struct Shift {
  OnDevice from, to;
  KOKKOS_FUNCTION void operator()(int i) const {
    int const n = int(from.extent(0));
    to(i)       = from(n - 1 - i) + 1;
  }
};

struct Inverse {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return 2 * a - b; }
};

struct Term {
  OnDevice a;
  Number before;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const { sum += a(i) + before(); }
};

khs::VectorPolicy<Kokkos::Cuda> all(Kokkos::Cuda const& instance, OnDevice const& a) {
  return {instance, 0, std::int64_t(a.extent(0))};
}

void shift(Kokkos::Cuda const& instance, OnDevice const& a, OnDevice const& b) {
  Kokkos::parallel_for("there", all(instance, a), Shift{a, b});
  Kokkos::parallel_for("back", all(instance, a), Shift{b, a});
}

int count_other(Kokkos::Cuda const& instance, OnDevice const& a, double expected) {
  Pinned const host(Kokkos::view_alloc("host", Kokkos::WithoutInitializing), a.extent(0));
  Kokkos::deep_copy(instance, host, a);
  instance.fence();
  int wrong = 0;
  for (std::size_t i = 0; i < host.extent(0); ++i) wrong += host(i) != expected;
  return wrong;
}

int any_length() { return elements(GENERATE(1, 31, 1 << 10, (1 << 12) + 1, 1 << 16, 1 << 20)); }

// Three words, of which none may be taken before it is there.
struct Three {
  float low, all, high;
};

// Some blocks are done a millisecond after the last one.
struct OfLateBlocks {
  using value_type = Three;
  int late;
  KOKKOS_FUNCTION void init(Three& to) const { to = {0, 0, 0}; }
  KOKKOS_FUNCTION void join(Three& to, Three const& from) const {
    to = {to.low + from.low, to.all + from.all, to.high + from.high};
  }
  KOKKOS_FUNCTION void operator()(int i, Three& sum) const {
    if (i % late == 0) wait();
    join(sum, {float(i < 1000), 1, float(i >= 1000)});
  }

  static KOKKOS_FUNCTION void wait() {
    KOKKOS_IF_ON_DEVICE((long long const begin = clock64(); while (clock64() - begin < 2000000);))
  }
};

}  // namespace

TEST_CASE("each kernel of a long chain sees all that the one before wrote",
          "[vector_policy_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n)), c("c", std::size_t(n));
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  int const steps     = rounds(500);
  for (int step = 0; step < steps; ++step) shift(instance, a, b);
  CHECK(count_other(instance, a, 2 * steps) == 0);
  for (int step = 0; step < steps; ++step) {  // 2 a - c and back: any lost write grows
    khs::element_wise("there", instance, c, Inverse(), a, a);
    khs::element_wise("back", instance, a, Inverse(), c, c);
  }
  CHECK(count_other(instance, a, 2 * steps) == 0);
}

TEST_CASE("kernels that wait by themselves take turns with those of Kokkos, and with copies",
          "[vector_policy_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  Pinned const host("host", std::size_t(n));
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  Kokkos::RangePolicy<Kokkos::Cuda> const range(instance, 0, n);
  int const steps = rounds(100);
  for (int step = 0; step < steps; ++step) {
    Kokkos::parallel_for("ours", all(instance, a), Shift{a, b});
    Kokkos::parallel_for("of Kokkos", range, Shift{b, a});
    shift(instance, a, b);
    Kokkos::deep_copy(instance, host, a);
    Kokkos::parallel_for("over it", all(instance, a), Shift{b, a});
    Kokkos::deep_copy(instance, a, host);
    Kokkos::deep_copy(instance, b, a);
    shift(instance, b, a);
    Kokkos::deep_copy(instance, a, b);
  }
  CHECK(count_other(instance, a, 6 * steps) == 0);
}

TEST_CASE("sums in a row share their scratch memory one after the other", "[vector_policy_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n));
  Number const first("first"), second("second");
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  for (int step = 0, steps = rounds(200); step < steps;
       ++step) {  // each by the result of the one before
    Kokkos::deep_copy(instance, a, double(step));
    Kokkos::parallel_reduce("first", all(instance, a), Term{a, second}, first);
    khs::element_wise("minus", instance, a, Inverse(), a, a);
    Kokkos::parallel_reduce("second", all(instance, a), Term{a, first}, second);
    Kokkos::parallel_for(
        "again", khs::VectorPolicy(instance, 0, 1),
        KOKKOS_LAMBDA(int) { second() -= double(n) * (first() + step); });
  }
  double result = -1;
  Kokkos::deep_copy(instance, result, second);
  instance.fence();
  CHECK(result == 0);
}

TEST_CASE("the last block of a sum waits for parts that come late", "[vector_policy_cuda]") {
  int const n = GENERATE(5000, 20000, 300000);  // some blocks, more than a warp has lanes, many
  CAPTURE(n);
  Kokkos::Cuda const instance;
  Kokkos::View<Three, Kokkos::CudaSpace> const sum("sum");
  for (int run = 0; run < 10; ++run) {
    Kokkos::parallel_reduce("late", khs::VectorPolicy(instance, 0, n), OfLateBlocks{n / 3}, sum);
    Kokkos::parallel_reduce("again", khs::VectorPolicy(instance, 0, n), OfLateBlocks{n}, sum);
    auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum)();
    CHECK(result.low == 1000);
    CHECK(result.all == float(n));
    CHECK(result.high == float(n - 1000));
  }
}

TEST_CASE("kernels that start early wait for events of another instance", "[vector_policy_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  cudaEvent_t done     = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&done, cudaEventDisableTiming) == cudaSuccess);
  int const turns = rounds(200);
  for (int turn = 0; turn < turns; ++turn) {
    Kokkos::Cuda const &now  = instances[std::size_t(turn % 2)],
                       &next = instances[std::size_t((turn + 1) % 2)];
    for (int step = 0; step < 3; ++step) shift(now, a, b);
    CHECK(cudaEventRecord(done, now.cuda_stream()) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(next.cuda_stream(), done, 0) == cudaSuccess);
  }
  CHECK(count_other(instances[0], a, 6 * turns) == 0);
  CHECK(cudaEventDestroy(done) == cudaSuccess);
}

TEST_CASE("chains on two instances at once do not meet", "[vector_policy_cuda]") {
  int const n = any_length(), steps = rounds(200);
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  std::vector<int> wrong(2, -1);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < 2; ++k)
    threads.emplace_back([&, k] {
      OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
      for (int step = 0; step < steps; ++step) shift(instances[k], a, b);
      wrong[k] = count_other(instances[k], a, 2 * steps);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>{0, 0});
}

namespace {

using Graph = Kokkos::Experimental::Graph<Kokkos::Cuda>;
using Node  = Kokkos::Experimental::GraphNodeRef<Kokkos::Cuda>;

Node then_shift(Node const& node, OnDevice const& from, OnDevice const& to) {
  return node.then_parallel_for("shift", all(Kokkos::Cuda(), from), Shift{from, to});
}

int early_edges(Graph& graph) {
  int early = 0;
#if CUDART_VERSION >= 13000  // the function had other parameters before
  std::vector<cudaGraphNode_t> from(1000), to(1000);
  std::vector<cudaGraphEdgeData> data(1000);
  std::size_t count = 1000;
  REQUIRE(cudaGraphGetEdges(graph.native_graph(), from.data(), to.data(), data.data(), &count) ==
          cudaSuccess);
  for (std::size_t i = 0; i < count; ++i)
    early += data[i].type == cudaGraphDependencyTypeProgrammatic;
#endif
  return early;
}

// What is expected where kernels can start early; else none does.
int if_early(int edges) {
  return Kokkos::Cuda().cuda_device_prop().major >= 9 && CUDART_VERSION >= 13000 ? edges : 0;
}

}  // namespace

TEST_CASE("each node of a chain that starts early sees all that the one before wrote",
          "[vector_policy_cuda]") {
  int const n = any_length(), pairs = 16, replays = rounds(50);
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  Kokkos::Cuda const instance;
  Graph graph({instance});
  Node node = graph.root_node();
  for (int k = 0; k < pairs; ++k) node = then_shift(then_shift(node, a, b), b, a);
  khs::instantiate(graph);
  CHECK(early_edges(graph) == if_early(2 * pairs - 1));
  for (int k = 0; k < replays; ++k) graph.submit(instance);
  CHECK(count_other(instance, a, 2 * pairs * replays) == 0);
}

TEST_CASE(
    "nodes that start early stand among sums, copies and kernels of Kokkos, and have branches",
    "[vector_policy_cuda]") {
  int const n = any_length(), replays = rounds(50);
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n)), c("c", std::size_t(n)),
      d("d", std::size_t(n));
  Number const zero("zero"), sum("sum"), other("other");
  Pinned const host("host", std::size_t(n));
  Kokkos::Cuda const instance;
  Graph graph({instance});
  Node const begin = then_shift(graph.root_node(), a, b);
  Node const left  = then_shift(begin, b, c);  // early
  Node const right = then_shift(begin, b, d);  // early, from the same
  Node const of_left =
      left.then_parallel_reduce("sum", all(Kokkos::Cuda(), c), Term{c, zero}, sum);  // early
  Node const of_right =
      right.then_parallel_reduce("sum", all(Kokkos::Cuda(), d), Term{d, zero}, other);  // early
  Node const both   = Kokkos::Experimental::when_all(of_left, of_right);
  Node const back   = then_shift(both, d, a);
  Node const copied = khs::then_deep_copy(back, host, a);
  Node const kokkos =
      copied.then_parallel_for("of Kokkos", Kokkos::RangePolicy<Kokkos::Cuda>(0, n), Shift{a, b});
  then_shift(then_shift(kokkos, b, c), c, a);  // the second one early
  khs::instantiate(graph);
  CHECK(early_edges(graph) == if_early(5));
  for (int k = 0; k < replays; ++k) graph.submit(instance);
  CHECK(count_other(instance, a, 6 * replays) == 0);
  double sums[2] = {};
  Kokkos::deep_copy(instance, sums[0], sum);
  Kokkos::deep_copy(instance, sums[1], other);
  instance.fence();
  double const last = 6. * (replays - 1) + 2;
  CHECK(sums[0] == n * last);
  CHECK(sums[1] == n * last);
  CHECK(host(std::size_t(n / 2)) == last + 1);
}

TEST_CASE("a graph may be launched again and again beside kernels that start early on its stream",
          "[vector_policy_cuda]") {
  int const n = any_length(), turns = rounds(100);
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  Graph graph;
  then_shift(then_shift(graph.root_node(), a, b), b, a);
  khs::instantiate(graph);
  for (int turn = 0; turn < turns; ++turn) {
    graph.submit(instance);
    shift(instance, a, b);
  }
  CHECK(count_other(instance, a, 4 * turns) == 0);
}
