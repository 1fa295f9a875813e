// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Which nodes of graphs may start early, on the fake runtime. That they wait:
// VectorEarlyNodesCuda.cpp.

#include "../../support/ChildOfFork.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"

#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#if CUDART_VERSION >= 13000  // functions of the same names had other parameters before
namespace KokkosHostSpaces::Impl {
namespace {

// A graph of kernels, each named by an address, and of empty nodes.
class Graph {
 public:
  Graph() { DeviceWork::require(cudaGraphCreate(&m_graph, 0), "cudaGraphCreate"); }
  ~Graph() { (void)cudaGraphDestroy(m_graph); }
  Graph(Graph const&)            = delete;
  Graph& operator=(Graph const&) = delete;

  cudaGraph_t get() const { return m_graph; }

  void add_edge(cudaGraphNode_t before, cudaGraphNode_t after, cudaGraphEdgeData const& data) {
    DeviceWork::require(cudaGraphAddDependencies(m_graph, &before, &after, &data, 1), "an edge");
  }

  // Behind others.
  cudaGraphNode_t add(void* kernel, std::vector<cudaGraphNode_t> const& after) {
    cudaGraphNode_t made = nullptr;
    if (kernel == nullptr) {
      DeviceWork::require(cudaGraphAddEmptyNode(&made, m_graph, nullptr, 0), "a node");
    } else {
      cudaKernelNodeParams launch = {};
      launch.func                 = kernel;
      DeviceWork::require(cudaGraphAddKernelNode(&made, m_graph, nullptr, 0, &launch), "a node");
    }
    for (cudaGraphNode_t before : after) add_edge(before, made, {});
    return made;
  }

  int edges() const {
    return count([](cudaGraphEdgeData const&) { return true; });
  }
  int early_edges() const {
    return count([](cudaGraphEdgeData const& edge) {
      return edge.type == cudaGraphDependencyTypeProgrammatic &&
             edge.from_port == cudaGraphKernelNodePortProgrammatic;
    });
  }

 private:
  template <class Condition>
  int count(Condition const& holds) const {
    cudaGraphNode_t from[16], to[16];
    cudaGraphEdgeData data[16];
    std::size_t edges = 16;
    DeviceWork::require(cudaGraphGetEdges(m_graph, from, to, data, &edges), "cudaGraphGetEdges");
    return int(std::count_if(data, data + edges, holds));
  }

  cudaGraph_t m_graph = nullptr;
};

// Of a graph of two kernels.
int early_edges(void* first, void* second) {
  Graph graph;
  graph.add(second, {graph.add(first, {})});
  DependentLaunch::start_nodes_early(graph.get());
  CHECK(graph.edges() == 1);
  return graph.early_edges();
}

// It becomes a node for a device, under an address.
void be_node(DependentLaunch& kernel, void* address, int device = 0) {
  Graph graph;
  kernel.be_node(graph.add(address, {}), device);
}

// Kernels that have become nodes for devices.
struct Nodes {
  int addresses[2] = {};
  DependentLaunch first{&addresses[0]}, second{&addresses[1]};

  explicit Nodes(int device = 0) {
    be_node(first, &addresses[0], device);
    be_node(second, &addresses[1], device);
  }

  // One behind the other, whatever became of them.
  int early_edges() { return Impl::early_edges(&addresses[0], &addresses[1]); }
};

}  // namespace

TEST_CASE("kernels of a graph that wait start early behind one other, and nothing else does") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  Nodes nodes;
  int stranger = 0;
  Graph graph;
  cudaGraphNode_t const root  = graph.add(nullptr, {});
  cudaGraphNode_t const a     = graph.add(&nodes.addresses[0], {root});
  cudaGraphNode_t const b     = graph.add(&nodes.addresses[1], {a});  // early
  cudaGraphNode_t const other = graph.add(&nodes.addresses[0], {a});  // early, beside it
  cudaGraphNode_t const c     = graph.add(&stranger, {b});            // does not wait
  cudaGraphNode_t const d     = graph.add(&nodes.addresses[0], {c});  // the one before is unknown
  graph.add(&nodes.addresses[1], {d, other});                         // two before it
  DependentLaunch::start_nodes_early(graph.get());
  CHECK(graph.edges() == 7);
  CHECK(graph.early_edges() == 2);
  DependentLaunch::start_nodes_early(graph.get());  // again
  CHECK(graph.edges() == 7);
  CHECK(graph.early_edges() == 2);
}

TEST_CASE("nodes for several devices, of older code, or of kernels that are gone start as ever") {
  FakeCuda::reset(2);
  FakeCuda::has_kernels({90, 80});
  Nodes on_0(0), on_1(1), on_both(0);
  CHECK(on_0.early_edges() == 1);
  CHECK(on_1.early_edges() == 0);
  be_node(on_both.first, &on_both.addresses[0], 1);
  CHECK(on_both.early_edges() == 0);
  int addresses[2] = {};
  {
    DependentLaunch gone(&addresses[0]);
    be_node(gone, &addresses[0]);
    be_node(gone, &addresses[1]);
    CHECK(early_edges(&addresses[0], &addresses[1]) == 1);
  }
  CHECK(early_edges(&addresses[0], &addresses[1]) == 0);
}

TEST_CASE("a kernel of two source files starts early under the addresses it has in both") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  int here = 0, there = 0;
  DependentLaunch kernel(&here);
  be_node(kernel, &there);
  be_node(kernel, &here);
  CHECK(early_edges(&here, &there) == 1);
  CHECK(early_edges(&there, &here) == 1);
  {
    DependentLaunch of_library(&here);  // another one for the same kernel, which is closed first
    be_node(of_library, &there);
  }
  CHECK(early_edges(&here, &here) == 1);
  CHECK(early_edges(&here, &there) == 0);
}

TEST_CASE("edges that are not default ones already stay as they are, and count") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  Nodes nodes;
  Graph graph;
  cudaGraphNode_t const a = graph.add(&nodes.addresses[0], {});
  cudaGraphNode_t const b = graph.add(&nodes.addresses[1], {});
  cudaGraphNode_t const c = graph.add(&nodes.addresses[1], {a});
  graph.add(&nodes.addresses[0], {b});  // early
  cudaGraphEdgeData when_begun = {};
  when_begun.from_port         = cudaGraphKernelNodePortLaunchCompletion;
  when_begun.type              = cudaGraphDependencyTypeProgrammatic;
  graph.add_edge(a, b, when_begun);
  graph.add_edge(b, c, when_begun);
  DependentLaunch::start_nodes_early(graph.get());
  CHECK(graph.edges() == 4);
  CHECK(graph.early_edges() == 1);
}

TEST_CASE("threads make graphs of the same kernels at once, while others are gone") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  int addresses[2] = {};
  DependentLaunch kernel(&addresses[0]);
  std::atomic<int> early{0};
  int const threads_at_once = 4, graphs = 100;
  std::vector<std::thread> threads;
  for (int t = 0; t < threads_at_once; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < graphs; ++k) {
        be_node(kernel, &addresses[0]);
        be_node(kernel, &addresses[1]);
        Nodes mine;  // destroyed after each round
        Graph graph;
        graph.add(&addresses[1], {graph.add(&addresses[0], {graph.add(&mine.addresses[0], {})})});
        DependentLaunch::start_nodes_early(graph.get());
        early += graph.early_edges();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(early == 2 * threads_at_once * graphs);
}

TEST_CASE("in the child of a fork graphs stay as they are") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  Nodes nodes;
  Graph graph;
  cudaGraphNode_t const last = graph.add(&nodes.addresses[1], {graph.add(&nodes.addresses[0], {})});
  CHECK(ChildOfFork::status([&] {
          nodes.first.be_node(last, 0);
          DependentLaunch::start_nodes_early(graph.get());
          return 0;
        }) == 0);
}

TEST_CASE("the child of a fork ends while another thread was making a graph") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({80});  // so that all edges are asked for again
  std::optional<Nodes> nodes(std::in_place);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    Graph graph;
    cudaGraphNode_t const first = graph.add(&nodes->addresses[0], {});
    for (int k = 0; k < 10; ++k) graph.add(&nodes->addresses[1], {first});
    while (!stop) DependentLaunch::start_nodes_early(graph.get());
  });
  int ended = 0;
  for (int child = 0; child < 100 && ended == child; ++child)
    ended += ChildOfFork::status([&] {
               nodes.reset();  // as static destructors do
               return 0;
             }) == 0;
  stop = true;
  other.join();
  CHECK(ended == 100);
}

}  // namespace KokkosHostSpaces::Impl
#endif
