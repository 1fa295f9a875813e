// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_MAPPED_VIEW_HPP
#define KOKKOS_HOST_SPACES_MAPPED_VIEW_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/core/UnmanagedView.hpp>

#include <type_traits>

namespace KokkosHostSpaces {

/// The type that mapped_view returns for a View type.
template <class View>
using mapped_view_type =
    Impl::UnmanagedViewIn<View, Kokkos::Device<typename View::execution_space, MappedSpace>>;

/// \cond
namespace Impl {

struct MappedViewFunction {
  template <class DataType, class... Properties>
  requires std::is_same_v<typename Kokkos::View<DataType, Properties...>::memory_space, PinnedSpace>
  auto operator()(Kokkos::View<DataType, Properties...> const& pinned) const {
    using View = Kokkos::View<DataType, Properties...>;
    check_plain<View>();
    if (is_only_registered(pinned.data()))
      throw Error(
          "KokkosHostSpaces::mapped_view of \"" + pinned.label() +
          "\" (it is registered memory, which kernels of this device do not reach): copy it "
          "to device memory");
    return mapped_view_type<View>(pinned.data(), pinned.layout());
  }
  template <class What>
  requires(!std::is_same_v<typename What::memory_space, PinnedSpace>) auto operator()(
      What const&) const {
    static_assert(never_v<What>, "mapped_view takes one View, which lies in PinnedSpace");
  }
};

}  // namespace Impl
/// \endcond

/// `mapped_view(pinned)`: an unmanaged View in MappedSpace of the memory of `pinned`, of the same shape,
/// layout and memory traits, which kernels can access in place. Keep `pinned` until the last work that
/// uses it is submitted; that work need not be done.
/// \throw Error with HIP and SYCL for a View of a Registration
inline constexpr Impl::MappedViewFunction mapped_view{};

}  // namespace KokkosHostSpaces

#endif
