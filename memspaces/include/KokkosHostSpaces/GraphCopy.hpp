// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_GRAPH_COPY_HPP
#define KOKKOS_HOST_SPACES_GRAPH_COPY_HPP

#include <KokkosHostSpaces/PreparedCopies.hpp>
#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/core/Streams.hpp>
#include <KokkosHostSpaces/impl/core/Replays.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>

#include <Kokkos_Graph.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// \cond
namespace Impl {

/// \throw Error on a device that the library does not drive: host nodes of its graphs may not copy
template <class ExecutionSpace>
void check_graph() {
  if constexpr (is_stock_v<ExecutionSpace>)
    throw Error(
        "KokkosHostSpaces::then_deep_copy: this device has no nodes that copy (its graphs call no "
        "copies from host nodes): copy before and after the graph");
}

template <class Dst, class Src>
void check_extents(Dst const& dst, Src const& src) {
  if constexpr (Kokkos::is_view_v<Src>) {
    for (std::size_t r = 0; r != Dst::rank(); ++r)
      if (dst.extent(r) != src.extent(r))
        throw Error("a graph cannot copy \"" + src.label() + "\" to \"" + dst.label() +
                    "\" (extent " + std::to_string(r) + " is " + std::to_string(src.extent(r)) +
                    " and " + std::to_string(dst.extent(r)) + "): copy between equal extents");
  }
}

/// The staging memory of a captured copy, and the exception of one that failed.
struct CaptureOutcome {
  std::shared_ptr<void const> memory;
  std::exception_ptr failure;
};

/// Adds what `copy(instance)` enqueues behind a node. Kokkos destroys the captured graph, but keeps the
/// functor, and with it what that holds: the memory lives as long as the graph.
template <class Node, class Copy>
auto add_copy(Node const& node, int device, Copy const& copy) {
  auto const outcome = std::make_shared<CaptureOutcome>();
  CaptureInstance const on(device);
  auto const added = add_captured(node, on.get(), [outcome, copy](DrivenDevice const& instance) {
    // Catches, because an exception would leave the stream capturing.
    try {
      outcome->memory = own_replayed_memory([&] { copy(instance); });
    } catch (...) {
      outcome->failure = std::current_exception();
    }
  });
  if (outcome->failure) std::rethrow_exception(outcome->failure);
  return added;
}

template <class Type>
void const* data_of(Type const& view_or_value) {
  if constexpr (Kokkos::is_view_v<Type>)
    return view_or_value.data();
  else
    return nullptr;
}

template <class Node, class Dst, class Src>
auto then_captured_copy(Node const& node, Dst const& dst, Src const& src) {
  if constexpr (!Kokkos::is_view_v<Src> && is_pageable_v<typename Dst::memory_space>)
    throw Error(
        "KokkosHostSpaces::then_deep_copy: '" + dst.label() + "' in " + Dst::memory_space::name() +
        " cannot be filled by a node of a graph (the host fills it, and fences before): use "
        "a View in PinnedSpace or MappedSpace");
  return add_copy(node, device_of(data_of(dst), data_of(src)), [dst, src](DrivenDevice const& on) {
    // Kokkos fences for an empty copy, which breaks a capture.
    if (dst.size() > 0) Kokkos::deep_copy(on, dst, src);
  });
}

template <class Node, class ExecutionSpace>
auto then_captured_copies(Node const& node, PreparedCopies<ExecutionSpace> const& copies) {
  return add_copy(node, copies.batch() == nullptr ? -1 : copies.batch()->device,
                  [copies](DrivenDevice const& on) { deep_copy_all(on, copies); });
}

}  // namespace Impl
/// \endcond

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
  Impl::check_graph<ExecutionSpace>();
  Impl::check_extents(dst, src);
  if constexpr (Impl::is_driven_v<ExecutionSpace>)
    return Impl::then_captured_copy(node, dst, src);
  else
    return node.then_host("Kokkos::deep_copy",
                          [dst, src] { Kokkos::deep_copy(ExecutionSpace(), dst, src); });
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
                          [copies] { deep_copy_all(ExecutionSpace(), copies); });
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
