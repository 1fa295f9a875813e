// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_GRAPH_INSTANTIATE_HPP
#define KOKKOS_HOST_SPACES_GRAPH_INSTANTIATE_HPP

#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>

#include <Kokkos_Graph.hpp>

#include <type_traits>

namespace KokkosHostSpaces {

namespace Impl {

/// The cudaGraph_t: `cuda_graph()` in Kokkos 5.2, `native_graph()` before.
template <class Graph>
auto native_graph_of(Graph& graph) {
  if constexpr (requires { graph.cuda_graph(); })
    return graph.cuda_graph();
  else
    return graph.native_graph();
}

}  // namespace Impl

/// Call it instead of `graph.instantiate()`, so that chains of short kernels take less time. A kernel of a
/// VectorPolicy, such as that of element_wise or element_sum, then starts before the node in front of it
/// ends (programmatic dependent launch), if that is the only one and also such a kernel. It waits for
/// that node by itself, so the results are the same. Launches nothing and does not wait.
///
/// Needs Hopper and CUDA 12.3; otherwise, and on the host, it is `graph.instantiate()` alone. The edges
/// become programmatic: CUDA functions that do not ask for the data of edges refuse such a graph, and a
/// kernel that replaces another one in the executable graph must wait as well.
/// \throw CudaError if CUDA removes a dependency, and then refuses to restore it
template <class ExecutionSpace>
void instantiate(Kokkos::Experimental::Graph<ExecutionSpace>& graph) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
    Impl::DependentLaunch::start_nodes_early(Impl::native_graph_of(graph));
#endif
  graph.instantiate();
}

}  // namespace KokkosHostSpaces

#endif
