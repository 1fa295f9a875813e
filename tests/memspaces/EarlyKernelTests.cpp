// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Which kernels may start early, on the fake runtime. That they wait: VectorEarlyCuda.cpp.

#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/Backend.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace KokkosHostSpaces::Impl {
namespace {

// Is a kernel, compiled for these versions of two devices, started early on each of them? The one
// that is asked for first is current.
std::vector<bool> started_early(std::vector<int> const& versions, std::vector<int> const& devices) {
  FakeCuda::reset(2);
  FakeCuda::has_kernels(versions);
  std::vector<bool> early;
  EarlyKernel kernel(&versions);
  for (int const device : devices) {
    DeviceWork::require(cudaSetDevice(device), "cudaSetDevice");
    DeviceWork::Stream const stream;
    DeviceWork::require(cudaSetDevice(devices.front()), "cudaSetDevice");
    int argument = 0;
    early.push_back(kernel.launch(1, 32, &argument, stream.get(), device));
  }
  return early;
}

using Is = std::vector<bool>;

#if CUDART_VERSION >= 13000  // functions of the same names had other parameters before
// A graph of kernels, each named by an address, and of empty nodes.
class Graph {
 public:
  Graph() { DeviceWork::require(cudaGraphCreate(&m_graph, 0), "cudaGraphCreate"); }
  ~Graph() { (void)cudaGraphDestroy(m_graph); }
  Graph(Graph const&)            = delete;
  Graph& operator=(Graph const&) = delete;

  cudaGraph_t get() const { return m_graph; }

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
    for (cudaGraphNode_t before : after)
      DeviceWork::require(cudaGraphAddDependencies(m_graph, &before, &made, nullptr, 1), "an edge");
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

// Kernels that have become nodes for devices.
struct Nodes {
  int addresses[2] = {};
  EarlyKernel first{&addresses[0]}, second{&addresses[1]};

  explicit Nodes(int device = 0) {
    first.be_node(device);
    second.be_node(device);
  }
};
#endif

}  // namespace

#if CUDART_VERSION >= 13000
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
  EarlyKernel::start_nodes_early(graph.get());
  CHECK(graph.edges() == 7);
  CHECK(graph.early_edges() == 2);
  EarlyKernel::start_nodes_early(graph.get());  // again
  CHECK(graph.edges() == 7);
  CHECK(graph.early_edges() == 2);
}

TEST_CASE("nodes for several devices, of older code, or of kernels that are gone start as ever") {
  FakeCuda::reset(2);
  FakeCuda::has_kernels({90, 80});
  auto const early_edges = [](Nodes& nodes) {
    Graph graph;
    graph.add(&nodes.addresses[1], {graph.add(&nodes.addresses[0], {})});
    EarlyKernel::start_nodes_early(graph.get());
    CHECK(graph.edges() == 1);
    return graph.early_edges();
  };
  Nodes on_0(0), on_1(1), on_both(0);
  CHECK(early_edges(on_0) == 1);
  CHECK(early_edges(on_1) == 0);
  on_both.first.be_node(1);
  CHECK(early_edges(on_both) == 0);
  Graph graph;
  {
    Nodes gone;
    graph.add(&gone.addresses[1], {graph.add(&gone.addresses[0], {})});
  }
  EarlyKernel::start_nodes_early(graph.get());
  CHECK(graph.early_edges() == 0);
}

TEST_CASE("whichever call fails, nodes of a graph wait for each other, or it is told") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  Nodes nodes;
  for (char const* const call :
       {"cudaGraphGetEdges", "cudaGraphNodeGetType", "cudaGraphKernelNodeGetParams",
        "cudaGraphRemoveDependencies", "cudaGraphAddDependencies"})
    for (int nth = 1; nth <= 2; ++nth) {
      CAPTURE(call, nth);
      Graph graph;
      graph.add(&nodes.addresses[1], {graph.add(&nodes.addresses[0], {})});
      FakeCuda::fail_nth_call(call, nth);
      EarlyKernel::start_nodes_early(graph.get());
      FakeCuda::fail_no_more();
      CHECK(cudaPeekAtLastError() == cudaSuccess);
      CHECK(graph.edges() == 1);
    }
  int told = 0;
  for (std::size_t second = 1; second <= 20; ++second) {  // of the calls that fail
    Graph graph;
    graph.add(&nodes.addresses[1], {graph.add(&nodes.addresses[0], {})});
    FakeCuda::fail_nth_call("cudaGraphAddDependencies", 1);
    FakeCuda::fail_nth_call("*", second);
    try {
      EarlyKernel::start_nodes_early(graph.get());
      FakeCuda::fail_no_more();
      CHECK(graph.edges() == 1);
    } catch (CudaError const&) {
      ++told;
    }
    FakeCuda::fail_no_more();
  }
  CHECK(told == 1);
}
#endif

TEST_CASE("a kernel starts early where it was compiled to wait, whatever it is on other devices") {
  CHECK(started_early({90, 100}, {0, 1, 0, 1}) == Is{true, true, true, true});
  CHECK(started_early({90, 80}, {0, 1, 0, 1}) == Is{true, false, true, false});
  CHECK(started_early({80, 90}, {0, 1, 0, 1}) == Is{false, true, false, true});
  CHECK(started_early({80, 75}, {1, 0}) == Is{false, false});
}

TEST_CASE("a kernel does not start early on the streams of everybody, nor in a capture") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  EarlyKernel kernel(&kernel);
  DeviceWork::Stream const stream;
  int argument     = 0;
  auto const start = [&](cudaStream_t on) { return kernel.launch(1, 32, &argument, on, 0); };
  CHECK_FALSE(start(nullptr));
  CHECK_FALSE(start(cudaStreamLegacy));
  CHECK_FALSE(start(cudaStreamPerThread));
  CHECK(start(stream.get()));
  cudaGraph_t graph = nullptr;
  DeviceWork::require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "capture");
  CHECK_FALSE(start(stream.get()));
  DeviceWork::require(cudaStreamEndCapture(stream.get(), &graph), "capture");
  DeviceWork::require(cudaGraphDestroy(graph), "cudaGraphDestroy");
  CHECK(start(stream.get()));
}

TEST_CASE("a launch that fails is none, and the next one is tried again") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  DeviceWork::Stream const stream;
  for (char const* const call : {"cudaLaunchKernelExC", "cudaSetDevice"}) {
    EarlyKernel kernel(&stream);
    int argument = 0;
    CHECK(kernel.launch(1, 32, &argument, stream.get(), 0));
    FakeCuda::fail_nth_call(call, 1);
    CHECK_FALSE(kernel.launch(1, 32, &argument, stream.get(), 0));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(kernel.launch(1, 32, &argument, stream.get(), 0));
  }
}

}  // namespace KokkosHostSpaces::Impl
