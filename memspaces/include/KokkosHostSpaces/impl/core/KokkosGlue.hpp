// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// All uses of Kokkos' internals for spaces: access between spaces, allocation records, contiguous
// copies, resize and realloc, the element-wise copy kernel, and properties of view_alloc.
// memspaces/README.md lists them. The order of includes does not matter for specialised class templates.

#ifndef KOKKOS_HOST_SPACES_IMPL_KOKKOS_GLUE_HPP
#define KOKKOS_HOST_SPACES_IMPL_KOKKOS_GLUE_HPP

#include <KokkosHostSpaces/impl/core/BuiltForKokkos.hpp>
#include <KokkosHostSpaces/impl/core/Streams.hpp>
#include <KokkosHostSpaces/impl/core/Replays.hpp>
#include <KokkosHostSpaces/impl/core/LockArrayInit.hpp>
#include <KokkosHostSpaces/impl/core/ByteCopy.hpp>
#include <KokkosHostSpaces/impl/core/SpaceTraits.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

// CMake decides which Kokkos will do (cmake/Kokkos.cmake). Types and functions of another minor release
// differ from those that were compiled into the library. Patch 99 is what comes behind that release.
#if !defined(KOKKOS_VERSION) ||                                          \
    KOKKOS_VERSION / 100 != KOKKOS_HOST_SPACES_BUILT_FOR_KOKKOS / 100 || \
    (KOKKOS_VERSION % 100 == 99) != (KOKKOS_HOST_SPACES_BUILT_FOR_KOKKOS % 100 == 99)
#error \
    "This Kokkos has another minor version than the one that Kokkos Host Spaces was built for: include the headers of that one (BuiltForKokkos.hpp names it), or build the library for this one"
#endif

namespace Kokkos::Impl {

template <class Dst, class Src>
requires KokkosHostSpaces::Impl::TwoSpaces<Dst, Src>
struct MemorySpaceAccess<Dst, Src> {
  enum : bool { assignable = KokkosHostSpaces::Impl::assignable_v<Dst, Src> };
  enum : bool { accessible = KokkosHostSpaces::Impl::accessible_v<Dst, Src> };
  enum : bool { deepcopy = true };
};

// Contiguous copies. Kokkos fences before and after those without an instance.
template <class Dst, class Src, class ExecutionSpace>
struct DeepCopy<Dst, Src, ExecutionSpace,
                std::enable_if_t<KokkosHostSpaces::Impl::OurPair<Dst, Src>>> {
  DeepCopy(void* dst, void const* src, size_t bytes) {
    if constexpr (on_host)
      hostspace_parallel_deepcopy(dst, src, static_cast<ptrdiff_t>(bytes));
    else if constexpr (KokkosHostSpaces::Impl::has_stock_device)
      StockCopy<ExecutionSpace>(dst, src, bytes);
    else
      KokkosHostSpaces::Impl::copy_and_wait(dst, src, bytes);
  }

  DeepCopy(ExecutionSpace const& instance, void* dst, void const* src, size_t bytes) {
    if constexpr (KokkosHostSpaces::Impl::is_driven_v<ExecutionSpace>) {
      KokkosHostSpaces::Impl::ScopedDevice const on_device(
          KokkosHostSpaces::Impl::stream_of(instance),
          KokkosHostSpaces::Impl::device_id_of(instance));
      KokkosHostSpaces::Impl::retain_for_graph(KokkosHostSpaces::Impl::stream_of(instance), dst,
                                               src);
      if constexpr (KokkosHostSpaces::Impl::is_page_locked_v<Dst> &&
                    KokkosHostSpaces::Impl::is_page_locked_v<Src>)
        KokkosHostSpaces::Impl::enqueue_byte_copy(instance, dst, src, bytes);
      else
        KokkosHostSpaces::Impl::copy_async(dst, src, bytes,
                                           KokkosHostSpaces::Impl::stream_of(instance));
      return;
    }
    // On a host instance, too: only this one waits for the copy.
    if constexpr (KokkosHostSpaces::Impl::is_stock_v<ExecutionSpace> ||
                  (KokkosHostSpaces::Impl::has_stock_device && !on_host)) {
      StockCopy<ExecutionSpace>(instance, dst, src, bytes);
      return;
    }
    instance.fence("Kokkos::deep_copy: fence of the host instance before the copy");
    DeepCopy(dst, src, bytes);
  }

 private:
  template <class Executor>
  using StockCopy               = DeepCopy<KokkosHostSpaces::Impl::StockSpaceOf<Dst>,
                             KokkosHostSpaces::Impl::StockSpaceOf<Src>, Executor>;
  static constexpr bool on_host = !KokkosHostSpaces::Impl::is_device_only_v<Dst> &&
                                  !KokkosHostSpaces::Impl::is_device_only_v<Src>;
};

// The owner of the memory of Views. src/core/Records.cpp compiles it.
template <KokkosHostSpaces::Impl::HostSpace Space>
class SharedAllocationRecord<Space, void> : public SharedAllocationRecordCommon<Space> {
  using SharedAllocationRecordCommon<Space>::SharedAllocationRecordCommon;
};

}  // namespace Kokkos::Impl

namespace KokkosHostSpaces::Impl {

/// True if a library has customized the access to elements. A Kokkos that does not say so is asked for the
/// type of a reference to an element.
template <class View>
constexpr bool is_customized() {
  if constexpr (requires { View::traits::impl_is_customized; })
    return View::traits::impl_is_customized;
  else
    return !std::is_same_v<typename View::reference_type, typename View::value_type&> &&
           !View::memory_traits::is_atomic;
}

/// Views that no library has customized.
template <class View>
concept PlainView = !is_customized<View>();

}  // namespace KokkosHostSpaces::Impl

namespace KokkosHostSpaces {

/// Kokkos asks for the number of elements that a View in one of our spaces allocates, and finds this by
/// the arguments. Kokkos' own answer wraps around: extents of -1 would be a View of a few bytes. This
/// saturates, and the allocation refuses so much. A library that has customized the elements may have an
/// answer of its own.
template <class Mapping, class Accessor>
requires(Impl::HostSpace<typename Accessor::memory_space>&&
             Impl::PlainView<Kokkos::View<typename Accessor::element_type*,
                                          typename Accessor::memory_space>>)  //
    KOKKOS_FUNCTION constexpr std::size_t
    allocation_size_from_mapping_and_accessor(Mapping const& mapping, Accessor const&) {
  constexpr std::size_t most =
      (std::size_t(-1) - 2 * alignof(std::max_align_t)) / sizeof(typename Accessor::element_type);
  std::size_t const span = mapping.required_span_size();
  std::size_t all        = 1;
  for (std::size_t d = 0; d < mapping.extents().rank(); ++d) {
    auto const extent = static_cast<std::size_t>(mapping.extents().extent(d));
    if (extent == 0) return span;
    all = all > most / extent ? most : all * extent;
  }
  return all == most || span > most ? most : span;
}

}  // namespace KokkosHostSpaces

namespace KokkosHostSpaces::Impl {

/// Refuses others, where elements are taken as bytes.
template <class... Views>
constexpr void check_plain() {
  static_assert(
      (PlainView<Views> && ...),
      "this call takes the elements of a View as plain bytes, and a library has customized the "
      "access to them (customize_view_arguments): pass a plain View, to which "
      "Kokkos::deep_copy copies this one");
}

/// The result of Kokkos::view_alloc.
template <class... P>
using ViewProperties = Kokkos::Impl::ViewCtorProp<P...>;

/// A property that Kokkos takes without view_alloc, such as WithoutInitializing.
template <class T>
concept ViewProperty = Kokkos::Impl::is_view_ctor_property<T>::value;

/// Returns properties unchanged, and wraps a single property.
template <class... P>
ViewProperties<P...> const& properties_of(ViewProperties<P...> const& properties) {
  return properties;
}
template <class Property>
auto properties_of(Property const& property) {
  return Kokkos::view_alloc(property);
}

template <class... P>
auto const& instance_in(ViewProperties<P...> const& properties) {
  return Kokkos::Impl::get_property<Kokkos::Impl::ExecutionSpaceTag>(properties);
}

template <class... P>
auto const& space_in(ViewProperties<P...> const& properties) {
  return Kokkos::Impl::get_property<Kokkos::Impl::MemorySpaceTag>(properties);
}

/// Returns the label, or `otherwise` if there is none.
template <class... P>
std::string label_in(ViewProperties<P...> const& properties, std::string const& otherwise) {
  std::string label;
  if constexpr (ViewProperties<P...>::has_label)
    label = Kokkos::Impl::get_property<Kokkos::Impl::LabelTag>(properties);
  return label.empty() ? otherwise : label;
}

/// Returns the properties, with those of the others that they do not have.
template <class... P, class... Others>
auto with_unset(ViewProperties<P...> const& properties, Others const&... others) {
  return Kokkos::Impl::with_properties_if_unset(properties, others...);
}

/// Copies the elements that both Views have, on the instance, or by host code.
template <class View, class... Instance>
void remap(View const& dst, View const& src, Instance const&... instance) {
  Kokkos::Impl::ViewRemap<View, View>(dst, src, instance...);
}

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE
// Each source file that is compiled without relocatable device code has lock arrays of its own.
[[maybe_unused]] static LockArrayInit const kernels_of_this_source(&ensure_lock_arrays);
#endif

// Enqueues Kokkos' element-wise copy kernel, which walks memory in the order of the side over the
// link.
template <class Dst, class Src>
void enqueue_copy_kernel(DrivenDevice const& instance, Dst const& dst, Src const& src) {
  using Kokkos::Iterate;
  constexpr bool dst_is_remote = !is_used_by_device_v<typename Dst::memory_space>;
  Iterate const order          = dst_is_remote ? Kokkos::Impl::get_iteration_order(dst)
                                               : Kokkos::Impl::get_iteration_order(src);
  auto const launch            = [&]<class Layout>(Layout) {
    Kokkos::Impl::ViewCopy<typename Dst::uniform_runtime_nomemspace_type,
                           typename Src::uniform_runtime_const_nomemspace_type, Layout,
                           DrivenDevice, int(Dst::rank), int64_t>(dst, src, instance);
  };
  if (order == Iterate::Right)
    launch(Kokkos::LayoutRight{});
  else
    launch(Kokkos::LayoutLeft{});
}

}  // namespace KokkosHostSpaces::Impl

#endif
