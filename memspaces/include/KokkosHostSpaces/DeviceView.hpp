// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_DEVICE_VIEW_HPP
#define KOKKOS_HOST_SPACES_DEVICE_VIEW_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>

#include <cstddef>
#include <type_traits>

namespace KokkosHostSpaces {

namespace Impl {

/// LayoutLeft for LayoutLeft, LayoutRight for all others.
template <class View>
using DenseLayoutOf =
    std::conditional_t<std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>,
                       Kokkos::LayoutLeft, Kokkos::LayoutRight>;

/// The layout of a View of the same shape without gaps.
template <class View>
DenseLayoutOf<View> dense_layout_of(View const& view) {
  DenseLayoutOf<View> dense;
  for (std::size_t r = 0; r != View::rank; ++r) dense.dimension[r] = view.extent(r);
  return dense;
}

/// \cond device_view is documented below
struct DeviceViewFunction {
  template <class ExecutionSpace, class DataType, class... Properties>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  auto operator()([[maybe_unused]] ExecutionSpace const& instance,
                  Kokkos::View<DataType, Properties...> const& view) const {
    using View = Kokkos::View<DataType, Properties...>;
    if constexpr (Kokkos::SpaceAccessibility<ExecutionSpace,
                                             typename View::memory_space>::accessible) {
      return typename View::const_type(view);
    } else {
      check_plain<View>();
      using Layout = DenseLayoutOf<View>;
      using Copy =
          Kokkos::View<typename View::non_const_data_type, Layout,
                       Kokkos::Device<ExecutionSpace, typename ExecutionSpace::memory_space>>;
      Copy const copy(Kokkos::view_alloc(instance, view.label(), Kokkos::WithoutInitializing),
                      dense_layout_of(view));
      if constexpr (View::rank() == 0)
        Kokkos::deep_copy(instance, copy, view);
      else
        copy_views(instance, copy, view);
      return typename Copy::const_type(copy);
    }
  }
  template <NoInstance First, class... Others>
  auto operator()(First const&, Others const&...) const {
    static_assert(never_v<First>, "device_view takes, in this order: an instance, and a View");
  }
};
/// \endcond

}  // namespace Impl

/// `device_view(instance, view)`: a View of const elements from which kernels of `instance` can read
/// `view`. It has the memory of `view` if these kernels can access that (MappedSpace,
/// WriteCombinedSpace, device memory; any memory if kernels are host code). Otherwise it is a dense copy
/// in the memory of the instance's device. The copy is asynchronous on `instance`, and ready for later
/// work of that instance. Destroying it waits for the device, as for all device memory of Kokkos: keep
/// it until the work is done.
///
/// Meant for generic code that reads, since Kokkos' create_mirror_view also copies memory that kernels
/// can access. To write, take a mirror or mapped_view.
inline constexpr Impl::DeviceViewFunction device_view{};

}  // namespace KokkosHostSpaces

#endif
