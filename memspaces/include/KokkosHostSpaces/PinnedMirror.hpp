// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PINNED_MIRROR_HPP
#define KOKKOS_HOST_SPACES_PINNED_MIRROR_HPP

#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/spaces/Mirrors.hpp>

namespace KokkosHostSpaces {

/// A View in PinnedSpace of the shape and layout of `view`, on the NUMA node nearest to the device of
/// `instance`; `view` itself if it lies in PinnedSpace. Not initialised. Does not wait.
/// \throw OutOfPinnedMemory
template <class ExecutionSpace, class DataType, class... Properties>
requires Kokkos::is_execution_space_v<ExecutionSpace>
auto create_pinned_mirror_view(ExecutionSpace const& instance,
                               Kokkos::View<DataType, Properties...> const& view) {
  return Kokkos::create_mirror_view(
      Kokkos::view_alloc(PinnedSpace(instance), Kokkos::WithoutInitializing), view);
}

/// The same with the contents of `view`: one copy, asynchronous on `instance`. Fence the instance before
/// the host reads the mirror.
/// \throw OutOfPinnedMemory
template <class ExecutionSpace, class DataType, class... Properties>
requires Kokkos::is_execution_space_v<ExecutionSpace>
auto create_pinned_mirror_view_and_copy(ExecutionSpace const& instance,
                                        Kokkos::View<DataType, Properties...> const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::view_alloc(PinnedSpace(instance), instance),
                                             view);
}

/// \cond
template <Impl::NoInstance First, class... Others>
auto create_pinned_mirror_view(First const&, Others const&...) {
  static_assert(Impl::never_v<First>,
                "create_pinned_mirror_view takes, in this order: an instance, such as "
                "Kokkos::DefaultExecutionSpace(), and a View");
}
template <Impl::NoInstance First, class... Others>
auto create_pinned_mirror_view_and_copy(First const& first, Others const&...) {
  return create_pinned_mirror_view(first);
}
/// \endcond

}  // namespace KokkosHostSpaces

#endif
