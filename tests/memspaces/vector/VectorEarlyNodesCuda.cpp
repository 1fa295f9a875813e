// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Dependent launches in graphs: nodes start early and wait for the node before them.

#include "../core/DependentLaunches.hpp"

#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace khs = KokkosHostSpaces;
using namespace DependentLaunches;

namespace {

using Graph = Kokkos::Experimental::Graph<Kokkos::Cuda>;
using ReadOnly =
    Kokkos::View<double const*, Kokkos::CudaSpace, Kokkos::MemoryTraits<Kokkos::RandomAccess>>;

int early_edges(Graph& graph) {
  int early = 0;
#if CUDART_VERSION >= 13000  // the function had other parameters before
  std::vector<cudaGraphNode_t> from(1000), to(1000);
  std::vector<cudaGraphEdgeData> data(1000);
  std::size_t count = 1000;
  REQUIRE(cudaGraphGetEdges(khs::Impl::native_graph_of(graph), from.data(), to.data(), data.data(),
                            &count) == cudaSuccess);
  for (std::size_t i = 0; i < count; ++i)
    early += data[i].type == cudaGraphDependencyTypeProgrammatic;
#endif
  return early;
}

// `edges` where the device and CUDA can start nodes early; else 0.
int if_early(int edges) {
  return Kokkos::Cuda().cuda_device_prop().major >= 9 && CUDART_VERSION >= 13000 ? edges : 0;
}

}  // namespace

TEST_CASE("each node of a chain sees all results of the node before it", "[vector_policy_cuda]") {
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

TEST_CASE("a node that starts early sees results of older nodes, also through the read-only cache",
          "[vector_policy_cuda]") {
  int const n = any_length(), turns = 8, replays = rounds(50);
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n)), c("c", std::size_t(n)),
      d("d", std::size_t(n));
  Kokkos::Cuda const instance;
  Graph graph({instance});
  Node node       = graph.root_node();
  auto const read = [&](OnDevice const& from, OnDevice const& to) {
    node = node.then_parallel_for("read", all(instance, from), Shift{ReadOnly(from), to});
  };
  for (int k = 0; k < turns; ++k) {
    read(a, b);
    node = then_shift(node, c, d);
    read(b, a);
  }
  khs::instantiate(graph);
  CHECK(early_edges(graph) == if_early(3 * turns - 1));
  for (int k = 0; k < replays; ++k) graph.submit(instance);
  CHECK(count_other(instance, a, 2 * turns * replays) == 0);
}

TEST_CASE("two instances launch a graph alternately, and its sums stay right",
          "[vector_policy_cuda]") {
  int const n = any_length(), replays = rounds(100);
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  Number const first("first"), second("second");
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  Graph graph;
  Node node = then_shift(then_shift(graph.root_node(), a, b), b, a);
  node = node.then_parallel_reduce("first", all(Kokkos::Cuda(), a), Term{a, Number("zero")}, first);
  node.then_parallel_reduce("second", all(Kokkos::Cuda(), a), Term{a, first}, second);
  khs::instantiate(graph);
  CHECK(early_edges(graph) == if_early(3));
  for (int k = 0; k < replays; ++k) graph.submit(instances[std::size_t(k % 2)]);
  for (Kokkos::Cuda const& instance : instances) instance.fence();
  CHECK(count_other(instances[0], a, 2 * replays) == 0);
  double sums[2] = {};
  Kokkos::deep_copy(sums[0], first);
  Kokkos::deep_copy(sums[1], second);
  CHECK(sums[0] == 2. * replays * n);
  CHECK(sums[1] == 2. * replays * n + double(n) * sums[0]);
}
