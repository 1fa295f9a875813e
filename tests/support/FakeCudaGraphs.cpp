// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Graphs of the fake runtime that are made node by node: kernels and empty nodes, and what waits for
// what, in which way.

#include "FakeCudaMachine.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

struct CUgraphNode_st {
  void* kernel;  ///< nullptr: an empty node
};

namespace FakeCuda {

namespace {

cudaError_t add_node(char const* call, cudaGraphNode_t* made, cudaGraph_t graph, void* kernel) {
  if (cudaError_t const error = enter_from_test(call)) return error;
  graph->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{kernel}));
  *made = graph->nodes.back().get();
  return cudaSuccess;
}

#if CUDART_VERSION >= 12030
bool is_equal(cudaGraphEdgeData const& a, cudaGraphEdgeData const& b) {
  return a.from_port == b.from_port && a.to_port == b.to_port && a.type == b.type;
}

auto find(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  return std::find_if(graph->edges.begin(), graph->edges.end(),
                      [=](GraphEdge const& edge) { return edge.from == from && edge.to == to; });
}

cudaError_t get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                      cudaGraphEdgeData* data, std::size_t* count) {
  if (cudaError_t const error = enter("cudaGraphGetEdges")) return error;
  for (std::size_t i = 0; from != nullptr && i < graph->edges.size(); ++i) {
    from[i] = graph->edges[i].from;
    to[i]   = graph->edges[i].to;
    data[i] = graph->edges[i].data;
  }
  *count = graph->edges.size();
  return cudaSuccess;
}

cudaError_t add_edges(cudaGraph_t graph, cudaGraphNode_t const* from, cudaGraphNode_t const* to,
                      cudaGraphEdgeData const* data, std::size_t count) {
  if (cudaError_t const error = enter("cudaGraphAddDependencies")) return error;
  FailNth::Exempt const exempt;
  for (std::size_t i = 0; i < count; ++i) {
    if (find(graph, from[i], to[i]) != graph->edges.end()) return finish(cudaErrorInvalidValue);
    graph->edges.push_back({from[i], to[i], data != nullptr ? data[i] : cudaGraphEdgeData{}});
  }
  return cudaSuccess;
}

cudaError_t cut_edges(cudaGraph_t graph, cudaGraphNode_t const* from, cudaGraphNode_t const* to,
                      cudaGraphEdgeData const* data, std::size_t count) {
  if (cudaError_t const error = enter("cudaGraphRemoveDependencies")) return error;
  for (std::size_t i = 0; i < count; ++i) {
    auto const edge = find(graph, from[i], to[i]);
    if (edge == graph->edges.end() || !is_equal(edge->data, data[i]))
      return finish(cudaErrorInvalidValue);
    graph->edges.erase(edge);
  }
  return cudaSuccess;
}
#endif

}  // namespace

}  // namespace FakeCuda

using namespace FakeCuda;

extern "C" {

cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t* made, unsigned int) {
  if (cudaError_t const error = enter_from_test("cudaGraphCreate")) return error;
  *made = new CUgraph_st;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t* made, cudaGraph_t graph,
                                             cudaGraphNode_t const*, std::size_t,
                                             cudaKernelNodeParams const* launch) {
  return add_node("cudaGraphAddKernelNode", made, graph, launch->func);
}

cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t* made, cudaGraph_t graph,
                                            cudaGraphNode_t const*, std::size_t) {
  return add_node("cudaGraphAddEmptyNode", made, graph, nullptr);
}

cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (cudaError_t const error = enter("cudaGraphNodeGetType")) return error;
  *type = node->kernel != nullptr ? cudaGraphNodeTypeKernel : cudaGraphNodeTypeEmpty;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                   cudaKernelNodeParams* launch) {
  if (cudaError_t const error = enter("cudaGraphKernelNodeGetParams")) return error;
  launch->func = node->kernel;
  return cudaSuccess;
}

#if CUDART_VERSION >= 13000
cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                        cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                        std::size_t* count) {
  return get_edges(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, cudaGraphNode_t const* from,
                                               cudaGraphNode_t const* to,
                                               cudaGraphEdgeData const* data, std::size_t count) {
  return add_edges(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, cudaGraphNode_t const* from,
                                                  cudaGraphNode_t const* to,
                                                  cudaGraphEdgeData const* data,
                                                  std::size_t count) {
  return cut_edges(graph, from, to, data, count);
}
#elif CUDART_VERSION >= 12030
cudaError_t CUDARTAPI cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from,
                                           cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                           std::size_t* count) {
  return get_edges(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphAddDependencies_v2(cudaGraph_t graph, cudaGraphNode_t const* from,
                                                  cudaGraphNode_t const* to,
                                                  cudaGraphEdgeData const* data,
                                                  std::size_t count) {
  return add_edges(graph, from, to, data, count);
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies_v2(cudaGraph_t graph, cudaGraphNode_t const* from,
                                                     cudaGraphNode_t const* to,
                                                     cudaGraphEdgeData const* data,
                                                     std::size_t count) {
  return cut_edges(graph, from, to, data, count);
}
#endif
}
