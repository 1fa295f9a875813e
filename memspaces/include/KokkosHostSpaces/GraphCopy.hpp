// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_GRAPH_COPY_HPP
#define KOKKOS_HOST_SPACES_GRAPH_COPY_HPP

#include <KokkosHostSpaces/PreparedCopies.hpp>
#include <KokkosHostSpaces/impl/graph/GraphCopies.hpp>

#include <Kokkos_Graph.hpp>

#include <type_traits>

namespace KokkosHostSpaces {

/// Adds a copy to a graph: a node behind `node` that does `deep_copy(instance, dst, src)` at each
/// launch, on the instance that the graph is submitted to. `dst` is a View; `src` is a View, or a
/// value that all elements get, which a View in HostSpace cannot on a device. Returns the new node.
///
/// The graph holds copies of the Views until it is destroyed, so that they may be destroyed before.
/// All pairs of spaces and layouts are possible for which deep_copy on an instance is. Pageable
/// memory is read, and written, at each launch. Does not wait, and needs no instance: it works for a
/// graph on the legacy default stream as well.
///
/// \throw Error if the extents differ. What else a copy throws, for want of memory, leaves a node
/// that does not copy: such a graph shall not be submitted.
template <class ExecutionSpace, class Kernel, class Predecessor, class DataType,
          class... Properties, class Src>
auto then_deep_copy(
    Kokkos::Experimental::GraphNodeRef<ExecutionSpace, Kernel, Predecessor> const& node,
    Kokkos::View<DataType, Properties...> const& dst, Src const& src) {
  using Dst = Kokkos::View<DataType, Properties...>;
  Impl::check_extents(dst, src);
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
    return Impl::then_captured_copy(node, dst, src);
  else
#endif
    return node.then_host("Kokkos::deep_copy", Impl::CopyNow<ExecutionSpace, Dst, Src>{dst, src});
}

/// The same for copies that were prepared: short pieces are one kernel of the node. The node holds
/// them, and their Views, until the graph is destroyed. Does not wait.
/// \throw what a copy throws; such a graph shall not be submitted
template <class ExecutionSpace, class Kernel, class Predecessor>
auto then_deep_copy(
    Kokkos::Experimental::GraphNodeRef<ExecutionSpace, Kernel, Predecessor> const& node,
    PreparedCopies<ExecutionSpace> const& copies) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
    return Impl::then_captured_copies(node, copies);
  else
#endif
    return node.then_host("KokkosHostSpaces::deep_copy_all",
                          Impl::CopyAllNow<ExecutionSpace>{copies});
}

/// For kernels that a stream captures: if the stream of `instance` does, the memory of these Views
/// in our spaces stays in use until the captured graph is destroyed, though the Views may be
/// destroyed before. Copies do so by themselves. Else, and without a device, nothing happens.
template <class ExecutionSpace, class... Views>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void retain_for_graph([[maybe_unused]] ExecutionSpace const& instance,
                      [[maybe_unused]] Views const&... views) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
    (Impl::retain_for_graph(instance.cuda_stream(), views.data(), nullptr), ...);
#endif
}

}  // namespace KokkosHostSpaces

#endif
