// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_GRAPH_INSTANTIATE_HPP
#define KOKKOS_HOST_SPACES_GRAPH_INSTANTIATE_HPP

#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>

#include <Kokkos_Graph.hpp>

#include <type_traits>

namespace KokkosHostSpaces {

namespace Impl {

/// The backend's graph: `cuda_graph()` in Kokkos 5.2, `native_graph()` before.
template <class Graph>
auto native_graph_of(Graph& graph) {
  if constexpr (requires { graph.cuda_graph(); })
    return graph.cuda_graph();
  else
    return graph.native_graph();
}

}  // namespace Impl

/// Instantiates a graph as `graph.instantiate()` does, which it stands for. Before that it lets
/// kernels of a VectorPolicy, such as those of element_wise and element_sum, start early, as they do
/// on a stream: a node that follows one other node, if both are such kernels. It waits for that one
/// by itself, so that results are the same, and chains of short kernels take less time.
///
/// From Hopper and CUDA 12.3 on, else and on the host it is `graph.instantiate()` alone. Edges
/// of the native graph that were changed are programmatic ones, which only functions of CUDA that
/// ask for the data of edges can tell, others refuse; who gives such a node another kernel in the
/// instantiated graph gives one that waits. Nothing is launched, and nothing is waited for.
///
/// \throw CudaError if CUDA takes a dependency away, and then refuses to restore it
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
