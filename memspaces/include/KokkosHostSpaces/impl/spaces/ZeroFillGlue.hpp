// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Skips fresh pages, which are zero, when Kokkos fills a View with zeros on the host: Kokkos' own
// functor runs for fewer elements.

#ifndef KOKKOS_HOST_SPACES_IMPL_ZERO_FILL_GLUE_HPP
#define KOKKOS_HOST_SPACES_IMPL_ZERO_FILL_GLUE_HPP

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// Names Kokkos' own functors, which the specialisations below derive from.
template <class ExecutionSpace, class Space>
struct UnspecialisedDevice {
  using execution_space = ExecutionSpace;
  using memory_space    = Space;
};

/// Kokkos sets these Views to zero with memset on the host.
template <class ExecutionSpace, class Space, class Value>
concept ZeroedByHost =
    HostSpace<Space> && std::is_same_v<typename ExecutionSpace::memory_space, Kokkos::HostSpace> &&
    std::is_trivially_default_constructible_v<Value>;

/// Kokkos' functor, applied to the elements up to the last dirty byte.
template <class Functor>
struct ZeroDirtyElements : Functor {
  using Functor::Functor;

  // Kokkos calls it right after the allocation.
  void construct_shared_allocation() {
    constexpr std::size_t size = sizeof(*Functor::ptr);
    std::size_t const dirty    = dirty_bytes(this->ptr);
    std::size_t const all      = this->n;
    this->n                    = std::min(all, dirty / size + (dirty % size != 0 ? 1 : 0));
    Functor::construct_shared_allocation();
    this->n = all;
  }
};

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos::Impl {

template <class ExecutionSpace, class Space, class Value>
requires KokkosHostSpaces::Impl::ZeroedByHost<ExecutionSpace, Space, Value>
struct ViewValueFunctor<Device<ExecutionSpace, Space>, Value>
    : KokkosHostSpaces::Impl::ZeroDirtyElements<ViewValueFunctor<
          KokkosHostSpaces::Impl::UnspecialisedDevice<ExecutionSpace, Space>, Value>> {
  using KokkosHostSpaces::Impl::ZeroDirtyElements<
      ViewValueFunctor<KokkosHostSpaces::Impl::UnspecialisedDevice<ExecutionSpace, Space>,
                       Value>>::ZeroDirtyElements;
};

// The same for Views that are made with SequentialHostInit.
template <class ExecutionSpace, class Space, class Value>
requires KokkosHostSpaces::Impl::ZeroedByHost<ExecutionSpace, Space, Value>
struct ViewValueFunctorSequentialHostInit<Device<ExecutionSpace, Space>, Value>
    : KokkosHostSpaces::Impl::ZeroDirtyElements<ViewValueFunctorSequentialHostInit<
          KokkosHostSpaces::Impl::UnspecialisedDevice<ExecutionSpace, Space>, Value>> {
  using KokkosHostSpaces::Impl::ZeroDirtyElements<ViewValueFunctorSequentialHostInit<
      KokkosHostSpaces::Impl::UnspecialisedDevice<ExecutionSpace, Space>,
      Value>>::ZeroDirtyElements;
};

}  // namespace Kokkos::Impl

#endif
