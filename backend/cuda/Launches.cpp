// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime and the driver API: programmatic dependent launches.

#include "Runtime.hpp"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// Takes 10 to 20 ns; cudaSetDevice of the current device takes 90 to 110 ns.
bool is_current(Runtime& r, int device) noexcept {
  CUcontext current = nullptr;
  return r.current_context(&current) == CUDA_SUCCESS && current != nullptr &&
         current == r.contexts[std::size_t(device)].load(std::memory_order_acquire);
}

bool make_current(Runtime& r, int device) noexcept {
  CUcontext known = nullptr;
  return is_current(r, device) || (succeeded(cudaSetDevice(device)) &&
                                   r.context_of(device, known) == Runtime::Context::in_use);
}

// nullopt if the runtime fails to tell.
std::optional<bool> has_dependent_launch(void const* kernel, int device) noexcept {
  constexpr int hopper          = 90;
  cudaFuncAttributes attributes = {};
  if (runtime() == nullptr || !succeeded(cudaSetDevice(device)) ||
      !succeeded(cudaFuncGetAttributes(&attributes, kernel)))
    return std::nullopt;
  return attributes.ptxVersion >= hopper && attributes.binaryVersion >= hopper;
}

}  // namespace

bool supports_dependent_launch(void const* kernel, int device) noexcept {
  return has_dependent_launch(kernel, device).value_or(false);
}

std::optional<KernelHandle> dependent_launch_handle(void const* kernel, int device) noexcept {
  std::optional<bool> const supported = has_dependent_launch(kernel, device);
  if (!supported) return std::nullopt;
  cudaFunction_t function = nullptr;
  if (*supported && !succeeded(cudaGetFuncBySymbol(&function, kernel))) return std::nullopt;
  return function;
}

bool launch_dependent(KernelHandle function, unsigned blocks, unsigned threads, void* argument,
                      Stream stream, int device) noexcept {
  CUlaunchAttribute attribute = {};
  attribute.id                = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config                                  = {};
  config.gridDimX                                        = blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX                  = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream                      = static_cast<CUstream>(stream);
  config.attrs                        = &attribute;
  config.numAttrs                     = 1;
  Runtime* const r                    = runtime();
  return r != nullptr && device >= 0 && device < max_devices && make_current(*r, device) &&
         r->launch_kernel(&config, static_cast<CUfunction>(function), &argument, nullptr) ==
             CUDA_SUCCESS;
}

void const* kernel_of_node(void* node) noexcept {
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

  // Empty if the runtime refuses.
  explicit Edges(cudaGraph_t graph) {
    std::size_t count = 0;
    if (!succeeded(get_edges(graph, nullptr, nullptr, nullptr, &count))) return;
    from.resize(count);
    to.resize(count);
    data.resize(count);
    if (!succeeded(get_edges(graph, from.data(), to.data(), data.data(), &count))) from.clear();
  }
};

bool is_default(cudaGraphEdgeData const& edge) {
  return edge.from_port == 0 && edge.to_port == 0 && edge.type == cudaGraphDependencyTypeDefault;
}

// Replaces a full dependency. Restores it if the runtime refuses the programmatic one.
void make_programmatic(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  cudaGraphEdgeData full = {}, programmatic = {};
  programmatic.from_port = cudaGraphKernelNodePortProgrammatic;
  programmatic.type      = cudaGraphDependencyTypeProgrammatic;
  if (!succeeded(cut_edge(graph, &from, &to, &full, 1))) return;
  if (succeeded(add_edge(graph, &from, &to, &programmatic, 1))) return;
  check(add_edge(graph, &from, &to, &full, 1), "cudaGraphAddDependencies",
        "a node of the graph does not wait any more: do not use it");
}

}  // namespace

void make_dependent_edges(void* graph, bool (*may)(void const* before, void const* kernel)) {
  if (runtime() == nullptr) return;
  auto* const of = static_cast<cudaGraph_t>(graph);
  Edges const edges(of);
  std::unordered_map<cudaGraphNode_t, int> predecessors;
  for (cudaGraphNode_t const to : edges.to) ++predecessors[to];
  for (std::size_t i = 0; i < edges.from.size(); ++i) {
    if (predecessors[edges.to[i]] > 1 || !is_default(edges.data[i])) continue;
    void const* const first  = kernel_of_node(edges.from[i]);
    void const* const second = first != nullptr ? kernel_of_node(edges.to[i]) : nullptr;
    if (second != nullptr && may(first, second)) make_programmatic(of, edges.from[i], edges.to[i]);
  }
}

#else

void make_dependent_edges(void*, bool (*)(void const*, void const*)) {}

#endif

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
