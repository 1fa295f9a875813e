// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime and the driver: kernels that start before what they wait for is done.

#include "Runtime.hpp"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// cudaSetDevice takes 90 to 110 ns even where the device is the current one, this 10 to 20 (Xeon).
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

// Nothing if the runtime does not tell.
std::optional<bool> starts_early(void const* kernel, int device) noexcept {
  constexpr int hopper          = 90;
  cudaFuncAttributes attributes = {};
  if (runtime() == nullptr || !succeeded(cudaSetDevice(device)) ||
      !succeeded(cudaFuncGetAttributes(&attributes, kernel)))
    return std::nullopt;
  return attributes.ptxVersion >= hopper && attributes.binaryVersion >= hopper;
}

}  // namespace

bool can_start_early(void const* kernel, int device) noexcept {
  return starts_early(kernel, device).value_or(false);
}

std::optional<EarlyFunction> early_function(void const* kernel, int device) noexcept {
  std::optional<bool> const early = starts_early(kernel, device);
  if (!early) return std::nullopt;
  cudaFunction_t function = nullptr;
  if (*early && !succeeded(cudaGetFuncBySymbol(&function, kernel))) return std::nullopt;
  return function;
}

bool launch_early(EarlyFunction function, unsigned blocks, unsigned threads, void* argument,
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

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
