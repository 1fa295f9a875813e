// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: kernels that start before what they wait for is done.

#include "Runtime.hpp"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace KokkosHostSpaces::Impl::Driver {

bool can_start_early(void const* kernel, int device) noexcept {
  constexpr int hopper          = 90;
  cudaFuncAttributes attributes = {};
  return runtime() != nullptr && succeeded(cudaSetDevice(device)) &&
         succeeded(cudaFuncGetAttributes(&attributes, kernel)) && attributes.ptxVersion >= hopper &&
         attributes.binaryVersion >= hopper;
}

bool launch_early(void const* kernel, unsigned blocks, unsigned threads, void* argument,
                  Stream stream, int device) noexcept {
  cudaLaunchAttribute attribute = {};
  attribute.id                  = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config                            = {};
  config.gridDim                                       = dim3(blocks);
  config.blockDim                                      = dim3(threads);
  config.stream                                        = static_cast<cudaStream_t>(stream);
  config.attrs                                         = &attribute;
  config.numAttrs                                      = 1;
  return succeeded(cudaSetDevice(device)) &&
         succeeded(cudaLaunchKernelExC(&config, kernel, &argument));
}

void const* kernel_of(void* node) noexcept {
  auto* const of              = static_cast<cudaGraphNode_t>(node);
  cudaGraphNodeType type      = cudaGraphNodeTypeEmpty;
  cudaKernelNodeParams launch = {};
  bool const is_known = runtime() != nullptr && succeeded(cudaGraphNodeGetType(of, &type)) &&
                        type == cudaGraphNodeTypeKernel &&
                        succeeded(cudaGraphKernelNodeGetParams(of, &launch));
  return is_known ? launch.func : nullptr;
}

#if CUDART_VERSION >= 12030

namespace {

#if CUDART_VERSION >= 13000
constexpr auto get_edges = cudaGraphGetEdges;
constexpr auto add_edge  = cudaGraphAddDependencies;
constexpr auto cut_edge  = cudaGraphRemoveDependencies;
#else
constexpr auto get_edges = cudaGraphGetEdges_v2;
constexpr auto add_edge  = cudaGraphAddDependencies_v2;
constexpr auto cut_edge  = cudaGraphRemoveDependencies_v2;
#endif

struct Edges {
  std::vector<cudaGraphNode_t> from, to;
  std::vector<cudaGraphEdgeData> data;

  // None if the runtime refuses.
  explicit Edges(cudaGraph_t graph) {
    std::size_t count = 0;
    if (!succeeded(get_edges(graph, nullptr, nullptr, nullptr, &count))) return;
    from.resize(count);
    to.resize(count);
    data.resize(count);
    if (!succeeded(get_edges(graph, from.data(), to.data(), data.data(), &count))) from.clear();
  }
};

bool is_plain(cudaGraphEdgeData const& edge) {
  return edge.from_port == 0 && edge.to_port == 0 && edge.type == cudaGraphDependencyTypeDefault;
}

// It stays as it was if the runtime takes it not so, or takes it not away.
void make_early(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  cudaGraphEdgeData plain = {}, early = {};
  early.from_port = cudaGraphKernelNodePortProgrammatic;
  early.type      = cudaGraphDependencyTypeProgrammatic;
  if (!succeeded(cut_edge(graph, &from, &to, &plain, 1))) return;
  if (succeeded(add_edge(graph, &from, &to, &early, 1))) return;
  check(add_edge(graph, &from, &to, &plain, 1), "cudaGraphAddDependencies",
        "a node of the graph does not wait any more: do not use it");
}

}  // namespace

void start_nodes_early(void* graph, bool (*may)(void const* before, void const* kernel)) {
  if (runtime() == nullptr) return;
  auto* const of = static_cast<cudaGraph_t>(graph);
  Edges const edges(of);
  std::unordered_map<cudaGraphNode_t, int> before;
  for (cudaGraphNode_t const to : edges.to) ++before[to];
  for (std::size_t i = 0; i < edges.from.size(); ++i) {
    if (before[edges.to[i]] > 1 || !is_plain(edges.data[i])) continue;
    void const* const first  = kernel_of(edges.from[i]);
    void const* const second = first != nullptr ? kernel_of(edges.to[i]) : nullptr;
    if (second != nullptr && may(first, second)) make_early(of, edges.from[i], edges.to[i]);
  }
}

#else

void start_nodes_early(void*, bool (*)(void const*, void const*)) {}

#endif

}  // namespace KokkosHostSpaces::Impl::Driver
