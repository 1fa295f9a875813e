// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_GRAPH_COPY_HPP
#define KOKKOS_HOST_SPACES_GRAPH_COPY_HPP

#include <KokkosHostSpaces/PreparedCopies.hpp>
#include <KokkosHostSpaces/impl/graph/GraphCopies.hpp>

#include <Kokkos_Graph.hpp>

#include <type_traits>

namespace KokkosHostSpaces {

/// Adds a node behind `node` that does `deep_copy(instance, dst, src)` at each launch, on the instance
/// to which the graph is submitted. Returns the new node. Does not wait. The graph may belong to the
/// legacy default stream.
///
/// The graph keeps the Views until it is destroyed. All pairs of spaces and layouts of an asynchronous
/// deep_copy are possible. Pageable memory is read or written at each launch.
/// \param node the new node is ordered behind it
/// \param dst a View
/// \param src a View of the same extents, or a value for all elements (on a device not for a `dst`
/// in HostSpace)
/// \throw Error if the extents differ
/// \throw OutOfPinnedMemory, DeviceError: the node then does not copy, so do not submit the graph
template <class ExecutionSpace, class Kernel, class Predecessor, class DataType,
          class... Properties, class Src>
auto then_deep_copy(
    Kokkos::Experimental::GraphNodeRef<ExecutionSpace, Kernel, Predecessor> const& node,
    Kokkos::View<DataType, Properties...> const& dst, Src const& src) {
  using Dst = Kokkos::View<DataType, Properties...>;
  Impl::check_graph<ExecutionSpace>();
  Impl::check_extents(dst, src);
  if constexpr (Impl::is_driven_v<ExecutionSpace>)
    return Impl::then_captured_copy(node, dst, src);
  else
    return node.then_host("Kokkos::deep_copy", Impl::CopyNow<ExecutionSpace, Dst, Src>{dst, src});
}

/// The same for prepared copies; kernels copy short pieces. The node keeps `copies` and their Views
/// until the graph is destroyed.
/// \throw Error as above; then do not submit the graph
template <class ExecutionSpace, class Kernel, class Predecessor>
auto then_deep_copy(
    Kokkos::Experimental::GraphNodeRef<ExecutionSpace, Kernel, Predecessor> const& node,
    PreparedCopies<ExecutionSpace> const& copies) {
  Impl::check_graph<ExecutionSpace>();
  if constexpr (Impl::is_driven_v<ExecutionSpace>)
    return Impl::then_captured_copies(node, copies);
  else
    return node.then_host("KokkosHostSpaces::deep_copy_all",
                          Impl::CopyAllNow<ExecutionSpace>{copies});
}

/// Retains the memory of these Views, if they are in our spaces, for a graph: while the stream of
/// `instance` captures, call it before each captured kernel that uses them. The memory then stays in use
/// until the captured graph is destroyed, even if the Views are destroyed before. Copies call it
/// themselves. Without a capture, without a device, and with HIP and SYCL it does nothing.
template <class ExecutionSpace, class... Views>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void retain_for_graph([[maybe_unused]] ExecutionSpace const& instance,
                      [[maybe_unused]] Views const&... views) {
  if constexpr (Impl::is_driven_v<ExecutionSpace>)
    (Impl::retain_for_graph(Impl::stream_of(instance), views.data(), nullptr), ...);
}

}  // namespace KokkosHostSpaces

#endif
