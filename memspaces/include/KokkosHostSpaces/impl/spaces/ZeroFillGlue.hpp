// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Views that Kokkos fills with zeros by memset, on the host: what is zero already is left out, for
// fresh pages are. Kokkos does it all, fences and telling the tools included, but for fewer
// elements. KokkosGlue refuses other versions of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_ZERO_FILL_GLUE_HPP
#define KOKKOS_HOST_SPACES_IMPL_ZERO_FILL_GLUE_HPP

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// A device for which Kokkos' own functors are not specialised here, like ours in all else.
template <class ExecutionSpace, class Space>
struct PlainDevice {
  using execution_space = ExecutionSpace;
  using memory_space    = Space;
};

/// Kokkos sets these to zero, byte by byte, in host code.
template <class ExecutionSpace, class Space, class Value>
concept ZeroedByHost =
    HostSpace<Space> && std::is_same_v<typename ExecutionSpace::memory_space, Kokkos::HostSpace> &&
    std::is_trivially_default_constructible_v<Value>;

/// Kokkos' functor, for fewer elements.
template <class Functor>
struct FillDirty : Functor {
  using Functor::Functor;

  // Kokkos calls it at once after the allocation.
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
    : KokkosHostSpaces::Impl::FillDirty<
          ViewValueFunctor<KokkosHostSpaces::Impl::PlainDevice<ExecutionSpace, Space>, Value>> {
  using KokkosHostSpaces::Impl::FillDirty<ViewValueFunctor<
      KokkosHostSpaces::Impl::PlainDevice<ExecutionSpace, Space>, Value>>::FillDirty;
};

// The same for Views that are made with SequentialHostInit.
template <class ExecutionSpace, class Space, class Value>
requires KokkosHostSpaces::Impl::ZeroedByHost<ExecutionSpace, Space, Value>
struct ViewValueFunctorSequentialHostInit<Device<ExecutionSpace, Space>, Value>
    : KokkosHostSpaces::Impl::FillDirty<ViewValueFunctorSequentialHostInit<
          KokkosHostSpaces::Impl::PlainDevice<ExecutionSpace, Space>, Value>> {
  using KokkosHostSpaces::Impl::FillDirty<ViewValueFunctorSequentialHostInit<
      KokkosHostSpaces::Impl::PlainDevice<ExecutionSpace, Space>, Value>>::FillDirty;
};

}  // namespace Kokkos::Impl

#endif
