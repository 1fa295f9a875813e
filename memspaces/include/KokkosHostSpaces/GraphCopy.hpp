// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_GRAPH_COPY_HPP
#define KOKKOS_HOST_SPACES_GRAPH_COPY_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/Backend.hpp>
#include <KokkosHostSpaces/impl/CaptureInstance.hpp>
#include <KokkosHostSpaces/impl/DeepCopy.hpp>

#include <Kokkos_Graph.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

namespace Impl {

template <class Dst, class Src>
void check_extents(Dst const& dst, Src const& src) {
  if constexpr (Kokkos::is_view_v<Src>) {
    for (std::size_t r = 0; r < Dst::rank(); ++r)
      if (dst.extent(r) != src.extent(r))
        throw Error("a graph cannot copy \"" + src.label() + "\" to \"" + dst.label() +
                    "\" (extent " + std::to_string(r) + " is " + std::to_string(src.extent(r)) +
                    " and " + std::to_string(dst.extent(r)) + "): copy between equal extents");
  }
}

/// What a node of a graph without a device does.
template <class ExecutionSpace, class Dst, class Src>
struct CopyNow {
  Dst dst;
  Src src;
  void operator()() const { Kokkos::deep_copy(ExecutionSpace(), dst, src); }
};

#ifdef KOKKOS_ENABLE_CUDA

/// What a node holds of a captured copy, as long as the graph lives: its Views, and the staging
/// memory that lies between them. Kokkos keeps it, but not the graph that it captures.
template <class Dst, class Src>
struct CapturedCopy {
  struct Outcome {
    std::shared_ptr<void const> memory;
    std::exception_ptr failure;
  };
  Dst dst;
  Src src;
  std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();

  // An exception must not leave the stream capturing.
  void operator()(Kokkos::Cuda const& instance) const {
    try {
      outcome->memory = own_replayed_memory([&] { Kokkos::deep_copy(instance, dst, src); });
    } catch (...) {
      outcome->failure = std::current_exception();
    }
  }
};

template <class Type>
void const* data_of(Type const& view_or_value) {
  if constexpr (Kokkos::is_view_v<Type>)
    return view_or_value.data();
  else
    return nullptr;
}

template <class Node, class Dst, class Src>
auto then_captured_copy(Node const& node, Dst const& dst, Src const& src) {
  CapturedCopy<Dst, Src> const copy{dst, src};
  CaptureInstance const on(device_of(data_of(dst), data_of(src)));
  auto const added = node.cuda_capture(on.get(), copy);
  if (copy.outcome->failure) std::rethrow_exception(copy.outcome->failure);
  return added;
}

#endif

}  // namespace Impl

/// Adds a copy to a graph: a node behind `node` that does `deep_copy(instance, dst, src)` at each
/// launch, on the instance that the graph is submitted to. `dst` is a View; `src` is a View, or a
/// value that all elements get. Returns the new node.
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

/// For kernels that a stream captures: if the stream of `instance` does, the memory of these Views
/// in our spaces stays in use until the captured graph is destroyed, though the Views may be
/// destroyed before. Copies do so by themselves. Else, and without a device, nothing happens.
template <class ExecutionSpace, class... Views>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void keep_for_replays([[maybe_unused]] ExecutionSpace const& instance,
                      [[maybe_unused]] Views const&... views) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
    (Impl::keep_for_replays(instance.cuda_stream(), views.data(), nullptr), ...);
#endif
}

}  // namespace KokkosHostSpaces

#endif
