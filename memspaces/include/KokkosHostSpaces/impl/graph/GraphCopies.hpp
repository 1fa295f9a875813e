// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Nodes of graphs that copy: their functors, and the memory that they hold until the graph is destroyed.

#ifndef KOKKOS_HOST_SPACES_IMPL_GRAPH_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_GRAPH_COPIES_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/PreparedCopies.hpp>
#include <KokkosHostSpaces/impl/core/Streams.hpp>
#include <KokkosHostSpaces/impl/core/Replays.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>

namespace KokkosHostSpaces::Impl {

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

/// The functors of a node on the host.
template <class ExecutionSpace, class Dst, class Src>
struct CopyNow {
  Dst dst;
  Src src;
  void operator()() const { Kokkos::deep_copy(ExecutionSpace(), dst, src); }
};

template <class ExecutionSpace>
struct CopyAllNow {
  PreparedCopies<ExecutionSpace> copies;
  void operator()() const { deep_copy_all(ExecutionSpace(), copies); }
};

/// Holds the staging memory of a captured copy as long as the graph lives, and the exception of a copy
/// that failed. Kokkos destroys the captured graph, but keeps the functor, and this with it.
class CaptureOutcome {
 public:
  // Catches, because an exception would leave the stream capturing.
  template <class Copy>
  void take(Copy const& copy) const {
    try {
      m_shared->memory = own_replayed_memory(copy);
    } catch (...) {
      m_shared->failure = std::current_exception();
    }
  }
  void rethrow() const {
    if (m_shared->failure) std::rethrow_exception(m_shared->failure);
  }

 private:
  struct Shared {
    std::shared_ptr<void const> memory;
    std::exception_ptr failure;
  };
  std::shared_ptr<Shared> m_shared = std::make_shared<Shared>();
};

template <class Dst, class Src>
struct CapturedCopy {
  Dst dst;
  Src src;
  CaptureOutcome outcome = {};

  // Kokkos fences for an empty copy, which breaks a capture.
  void operator()(DrivenDevice const& instance) const {
    if (dst.size() == 0) return;
    outcome.take([&] { Kokkos::deep_copy(instance, dst, src); });
  }
};

template <class ExecutionSpace>
struct CapturedCopies {
  PreparedCopies<ExecutionSpace> copies;
  CaptureOutcome outcome = {};

  void operator()(ExecutionSpace const& instance) const {
    outcome.take([&] { deep_copy_all(instance, copies); });
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
  if constexpr (!Kokkos::is_view_v<Src> && is_pageable_v<typename Dst::memory_space>)
    throw Error(
        "KokkosHostSpaces::then_deep_copy: '" + dst.label() + "' in " + Dst::memory_space::name() +
        " cannot be filled by a node of a graph (the host fills it, and fences before): use "
        "a View in PinnedSpace or MappedSpace");
  CapturedCopy<Dst, Src> const copy{dst, src};
  CaptureInstance const on(device_of(data_of(dst), data_of(src)));
  auto const added = add_captured(node, on.get(), copy);
  copy.outcome.rethrow();
  return added;
}

template <class Node, class ExecutionSpace>
auto then_captured_copies(Node const& node, PreparedCopies<ExecutionSpace> const& copies) {
  CapturedCopies<ExecutionSpace> const captured{copies};
  CaptureInstance const on(copies.batch() == nullptr ? -1 : copies.batch()->device());
  auto const added = add_captured(node, on.get(), captured);
  captured.outcome.rethrow();
  return added;
}

}  // namespace KokkosHostSpaces::Impl

#endif
