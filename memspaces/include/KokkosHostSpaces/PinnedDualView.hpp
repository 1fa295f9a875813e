// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PINNED_DUAL_VIEW_HPP
#define KOKKOS_HOST_SPACES_PINNED_DUAL_VIEW_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/spaces/Resize.hpp>
#include <KokkosHostSpaces/impl/views/DualViewGlue.hpp>
#include <KokkosHostSpaces/impl/core/UnmanagedView.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces {

template <class DataType, class... Properties>
class PinnedDualView;

/// \cond
namespace Impl {

/// The PinnedDualView whose device side is a View.
template <class View>
struct PinnedDualOf;
template <class DataType, class... Properties>
struct PinnedDualOf<Kokkos::View<DataType, Properties...>> {
  using type = PinnedDualView<DataType, Properties...>;
};

/// \throw Error unless both are the same memory
template <class Pinned, class Host>
void check_pinned(Pinned const& pinned, Host const& host) {
  if (pinned.data() != host.data())
    throw Error("the host side of \"" + host.label() +
                "\" is not pinned any more (it was resized as a Kokkos::DualView): resize it as a "
                "PinnedDualView");
}

template <class Type>
concept Extent = std::convertible_to<Type, std::size_t>;

/// True if `Device` names the host side by its space.
template <class Device>
inline constexpr bool names_pinned = std::is_same_v<typename Device::memory_space, PinnedSpace>;

/// The same side in terms of a DualView, whose host side lies in HostSpace.
template <class Device>
using DualViewSide = std::conditional_t<names_pinned<Device>, Kokkos::HostSpace, Device>;

/// True if these are the dynamic extents of `view`.
template <class View, class... N>
bool has_extents(View const& view, N... extents) {
  std::array<std::size_t, sizeof...(N)> const wanted{static_cast<std::size_t>(extents)...};
  std::size_t const count = std::min<std::size_t>(View::rank_dynamic, wanted.size());
  for (std::size_t r = 0; r != count; ++r)
    if (view.extent(r) != wanted[r]) return false;
  return true;
}

/// A pinned View of the shape and label of `device`, near the device of the instance if the properties
/// have one. The host fills it unless they say WithoutInitializing.
template <class Host, class Device, class... P>
Host pinned_like(ViewProperties<P...> const& properties, Device const& device) {
  PinnedSpace space;
  if constexpr (ViewProperties<P...>::has_execution_space)
    space = PinnedSpace(instance_in(properties));
  if constexpr (ViewProperties<P...>::initialize)
    return Host(Kokkos::view_alloc(space, device.label()), device.layout());
  else
    return Host(Kokkos::view_alloc(space, device.label(), Kokkos::WithoutInitializing),
                device.layout());
}

/// A pinned copy of a host View, with its label.
template <class Pinned, class Host>
Pinned pinned_copy(Host const& host) {
  Pinned const copy = pinned_like<Pinned>(Kokkos::view_alloc(Kokkos::WithoutInitializing), host);
  Kokkos::deep_copy(copy, host);
  return copy;
}

/// A View in device memory of the shape, label and contents of `view`.
template <class Device, class View>
Device device_copy(View const& view) {
  Device const copy(Kokkos::view_alloc(view.label(), Kokkos::WithoutInitializing), view.layout());
  Kokkos::deep_copy(copy, view);
  return copy;
}

/// Refuses to compile what Kokkos' DualView refuses.
template <class Properties>
constexpr void check_host_init() {
  static_assert(Properties::initialize,
                "SequentialHostInit and WithoutInitializing exclude each other");
  static_assert(!Properties::has_execution_space, "SequentialHostInit takes no instance");
}

}  // namespace Impl
/// \endcond

/// A Kokkos::DualView whose host side lies in PinnedSpace. `sync_device(instance)` and
/// `sync_host(instance)` are one copy at the full rate of the link, asynchronous on the instance: fence
/// it before the host reads or writes the View. Without an instance they block, as Kokkos' own.
///
/// It has the flags and errors of a DualView, and its events for Kokkos Tools. It can be passed as a
/// DualView, which shares its memory and flags, and whose host side has the type HostSpace. If such a
/// DualView is resized, the host side becomes pageable, and view_host() throws until resize or realloc
/// of this class pins it again. The device side is in device memory. Without a device both sides are the
/// same memory, in PinnedSpace, and nothing is copied.
template <class DataType, class... Properties>
class PinnedDualView : public Kokkos::DualView<DataType, Properties...> {
  using Base   = Kokkos::DualView<DataType, Properties...>;
  using Access = Impl::DualViewAccess<Base>;

 public:
  /// The device side.
  using t_dev = typename Base::t_dev;
  /// The host side.
  using t_host = Kokkos::View<typename Base::t_host::data_type, typename t_dev::array_layout,
                              Kokkos::Device<Kokkos::DefaultHostExecutionSpace, PinnedSpace>>;
  /// The other types of the host side, as Kokkos::DualView has them.
  using t_host_const = Kokkos::View<typename t_host::const_data_type, typename t_host::array_layout,
                                    typename t_host::device_type>;
  /// Of const elements, read in any order.
  using t_host_const_randomread =
      Kokkos::View<typename t_host::const_data_type, typename t_host::array_layout,
                   typename t_host::device_type, Kokkos::MemoryTraits<Kokkos::RandomAccess>>;
  /// Unmanaged.
  using t_host_um = Impl::UnmanagedViewIn<t_host, typename t_host::device_type>;
  /// Unmanaged, of const elements.
  using t_host_const_um = Impl::UnmanagedViewIn<t_host_const, typename t_host::device_type>;
  /// Unmanaged, of const elements, read in any order.
  using t_host_const_randomread_um =
      Impl::UnmanagedViewIn<t_host_const_randomread, typename t_host::device_type>;
  /// True if both sides are the same memory.
  static constexpr bool shares_memory =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename t_dev::memory_space>::accessible;
  static_assert(
      !shares_memory || Impl::is_pageable_v<typename t_dev::memory_space>,
      "the device side of a PinnedDualView lies in device memory (or in HostSpace, where "
      "kernels are host code): for other spaces, and on an APU whose memory host and device "
      "share, take Kokkos::DualView");

  /// A PinnedDualView without memory.
  PinnedDualView() = default;

  /// Zeros on both sides. \throw OutOfPinnedMemory
  template <Impl::Extent... N>
  PinnedDualView(std::string const& label, N... extents)
      : PinnedDualView(Kokkos::view_alloc(label), extents...) {}

  /// With the properties of Kokkos::view_alloc: label, instance, WithoutInitializing, SequentialHostInit.
  /// An instance fills the device side, asynchronously, and the host side lies near its device. With
  /// SequentialHostInit the host side is made first, and copied to the device side.
  /// \throw OutOfPinnedMemory
  template <class... P, Impl::Extent... N>
  PinnedDualView(Impl::ViewProperties<P...> const& properties, N... extents) {
    static_assert(!Impl::ViewProperties<P...>::has_pointer, "a PinnedDualView owns its memory");
    if constexpr (shares_memory) {
      t_host const both(properties, std::size_t(extents)...);
      attach(both, both);
    } else if constexpr (Impl::ViewProperties<P...>::sequential_host_init) {
      Impl::check_host_init<Impl::ViewProperties<P...>>();
      t_host const host(properties, std::size_t(extents)...);
      attach(Impl::device_copy<t_dev>(host), host);
    } else {
      t_dev const device(properties, std::size_t(extents)...);
      attach(device, Impl::pinned_like<t_host>(properties, device));
    }
  }

  /// Of two Views of the same shape and contents: nothing is copied. Where both sides are the same
  /// memory, `device` must be that of `host`.
  /// \throw std::runtime_error if the shapes differ
  PinnedDualView(t_dev const& device, t_host const& host) { attach(device, host); }

  /// A copy of both sides of a DualView and of its flags, with memory of its own. Blocks.
  /// \throw OutOfPinnedMemory
  explicit PinnedDualView(Base const& dual) {
    if (!dual.is_allocated()) return;
    t_host const host = Impl::pinned_copy<t_host>(dual.view_host());
    if constexpr (shares_memory) {
      attach(host, host);
    } else {
      attach(Impl::device_copy<t_dev>(dual.view_device()), host);
      if (dual.need_sync_device()) ++Access::flags (*this)(0);
      if (dual.need_sync_host()) ++Access::flags (*this)(1);
    }
  }

  /// Converts between element and memory traits as Views do; shares memory and flags.
  template <class OtherData, class... Others>
  PinnedDualView(PinnedDualView<OtherData, Others...> const& other)
      : Base(other), m_host(other.view_host()) {}

  /// A part, as by Kokkos::subview; shares memory and flags.
  template <class OtherData, class... Others, class First, class... Rest>
  PinnedDualView(PinnedDualView<OtherData, Others...> const& whole, First const& first,
                 Rest const&... rest)
      : Base(whole, first, rest...), m_host(Kokkos::subview(whole.view_host(), first, rest...)) {}

  /// The host side. \throw Error if it was resized as a Kokkos::DualView
  KOKKOS_FUNCTION t_host const& view_host() const {
    KOKKOS_IF_ON_HOST((Impl::check_pinned(m_host, Base::view_host());))
    return m_host;
  }

  /// The side that a device, an execution space or a memory space names (PinnedSpace: the host side).
  template <class Device>
  KOKKOS_FUNCTION auto view() const {
    using View = decltype(std::declval<Base const&>().template view<Impl::DualViewSide<Device>>());
    constexpr bool is_host = !shares_memory && std::is_same_v<View, typename Base::t_host>;
    if constexpr (Impl::names_pinned<Device> || is_host)
      return view_host();
    else
      return Base::template view<Device>();
  }

  /// Copies the host side to the device side if the host side was modified. Asynchronous on the
  /// instance; blocks without one.
  template <class... Instance>
  void sync_device(Instance const&... instance) {
    static_assert(sizeof...(Instance) <= 1);
    if constexpr (is_const) {
      Base::sync_device(instance...);  // refuses
    } else if constexpr (!shares_memory) {
      //~ failure 23
      if (!this->need_sync_device()) return;
      Kokkos::deep_copy(instance..., Base::view_device(), view_host());
      this->clear_sync_state();
      Access::report_device_sync(*this);
    }
  }

  /// The same from the device side to the host side.
  template <class... Instance>
  void sync_host(Instance const&... instance) {
    static_assert(sizeof...(Instance) <= 1);
    if constexpr (is_const) {
      Base::sync_host(instance...);
    } else if constexpr (!shares_memory) {
      if (!this->need_sync_host()) return;
      Kokkos::deep_copy(instance..., view_host(), Base::view_device());
      this->clear_sync_state();
      Access::report_host_sync(*this);
    }
  }

  /// Synchronises the side that `Device` names, as in view().
  template <class Device, class... Instance>
  void sync(Instance const&... instance) {
    if constexpr (!shares_memory) {
      if (Access::template is_device_side<Impl::DualViewSide<Device>>())
        sync_device(instance...);
      else
        sync_host(instance...);
    }
  }

  /// True if the side that `Device` names is older than the other one, which was modified later.
  template <class Device>
  bool need_sync() const {
    return !shares_memory && Base::template need_sync<Impl::DualViewSide<Device>>();
  }

  /// Marks the side that `Device` names as modified. Aborts if the other side is modified, too.
  template <class Device>
  void modify() {
    if constexpr (!shares_memory) Base::template modify<Impl::DualViewSide<Device>>();
  }

  /// Changes the extents; keeps the contents of the side that was modified last, and marks that side as
  /// modified. Blocks. \throw OutOfPinnedMemory
  template <Impl::Extent... N>
  void resize(N... extents) {
    resize(Kokkos::view_alloc(), extents...);
  }

  /// The same with an instance: synchronises and resizes the side that the instance can access,
  /// asynchronously on it. With SequentialHostInit: resizes the host side and copies it to the device
  /// side; afterwards no side is modified.
  template <class... P, Impl::Extent... N>
  void resize(Impl::ViewProperties<P...> const& properties, N... extents) {
    check_number<N...>();
    repin();
    if (Impl::has_extents(m_host, extents...)) return;
    using Given = Impl::ViewProperties<P...>;
    if constexpr (shares_memory) {
      t_host both = m_host;
      Kokkos::resize(properties, both, std::size_t(extents)...);
      attach(both, both);
    } else if constexpr (Given::sequential_host_init) {
      Impl::check_host_init<Given>();
      sync_host();
      t_host host = m_host;
      Kokkos::resize(properties, host, std::size_t(extents)...);
      attach(Impl::device_copy<t_dev>(host), host);
      this->clear_sync_state();
    } else if constexpr (Given::has_execution_space) {
      using Space = typename Given::execution_space;
      if constexpr (Kokkos::SpaceAccessibility<Space, typename t_dev::memory_space>::accessible) {
        sync_device(Impl::instance_in(properties));
        resize_device(properties, extents...);
      } else {
        sync_host(Impl::instance_in(properties));
        resize_host(properties, extents...);
      }
    } else if (!this->need_sync_device()) {
      resize_device(properties, extents...);
    } else {
      resize_host(properties, extents...);
    }
  }

  /// The same with WithoutInitializing or SequentialHostInit alone.
  template <Impl::ViewProperty Property, Impl::Extent... N>
  void resize(Property const& property, N... extents) {
    resize(Kokkos::view_alloc(property), extents...);
  }

  /// Changes the extents and drops the contents; afterwards no side is modified.
  /// \throw OutOfPinnedMemory, and is without memory then
  template <Impl::Extent... N>
  void realloc(N... extents) {
    realloc(Kokkos::view_alloc(), extents...);
  }

  /// As above, with an instance, WithoutInitializing or SequentialHostInit.
  template <class... P, Impl::Extent... N>
  void realloc(Impl::ViewProperties<P...> const& properties, N... extents) {
    check_number<N...>();
    repin();
    t_dev device     = Base::view_device();
    t_host host      = m_host;
    auto const flags = Access::flags(*this);
    if (!Impl::has_extents(m_host, extents...)) {
      *this = PinnedDualView();  // releases the old memory before the new is allocated
      if constexpr (shares_memory) {
        device = {};
        Kokkos::realloc(properties, host, std::size_t(extents)...);
        device = host;
      } else {
        reallocate(properties, device, host, extents...);
      }
      Access::flags(*this) = flags;
      attach(device, host);
    } else if constexpr (Impl::ViewProperties<P...>::sequential_host_init && !shares_memory) {
      reallocate(properties, device, host, extents...);
      attach(device, host);
    } else if constexpr (Impl::ViewProperties<P...>::initialize) {
      Kokkos::realloc(properties, device, std::size_t(extents)...);  // fills it again
    }
    this->clear_sync_state();
  }

  /// The same with WithoutInitializing or SequentialHostInit alone.
  template <Impl::ViewProperty Property, Impl::Extent... N>
  void realloc(Property const& property, N... extents) {
    realloc(Kokkos::view_alloc(property), extents...);
  }

 private:
  // With fewer extents the others would be kept, or be none, as one takes it.
  template <class... N>
  static constexpr void check_number() {
    static_assert(
        sizeof...(N) >= t_host::rank_dynamic,
        "resize and realloc of a PinnedDualView take an extent for each dimension that has "
        "none in its type");
  }

  // Makes both sides anew: of SequentialHostInit the host side first, else the device side.
  template <class... P, class... N>
  static void reallocate(Impl::ViewProperties<P...> const& properties, t_dev& device, t_host& host,
                         N... extents) {
    if constexpr (Impl::ViewProperties<P...>::sequential_host_init) {
      Impl::check_host_init<Impl::ViewProperties<P...>>();
      std::string const label = host.label();
      device = {}, host = {};
      host   = t_host(Impl::with_unset(properties, label), std::size_t(extents)...);
      device = Impl::device_copy<t_dev>(host);
    } else {
      host = {};
      Kokkos::realloc(properties, device, std::size_t(extents)...);
      host = Impl::pinned_like<t_host>(properties, device);
    }
  }

  static constexpr bool is_const =
      !std::is_same_v<typename t_dev::data_type, typename t_dev::non_const_data_type>;

  // Replaces the memory of both sides. The flags stay shared with all copies.
  void attach(t_dev const& device, t_host const& host) {
    auto const flags          = Access::flags(*this);
    static_cast<Base&>(*this) = Base(device, host);
    if (flags.data() != nullptr) Access::flags(*this) = flags;
    m_host = host;
  }

  // Pins the host side again if it was resized as a DualView; keeps the contents.
  void repin() {
    if (m_host.data() == Base::view_host().data()) return;
    t_host const host = Impl::pinned_copy<t_host>(Base::view_host());
    if constexpr (shares_memory) attach(host, host);
    if constexpr (!shares_memory) attach(Base::view_device(), host);
  }

  template <class... P, class... N>
  void resize_device(Impl::ViewProperties<P...> const& properties, N... extents) {
    t_dev device = Base::view_device();
    Kokkos::resize(properties, device, std::size_t(extents)...);
    attach(device, Impl::pinned_like<t_host>(properties, device));
    ++Access::flags (*this)(1);
  }

  template <class... P, class... N>
  void resize_host(Impl::ViewProperties<P...> const& properties, N... extents) {
    t_host host = m_host;
    Kokkos::resize(properties, host, std::size_t(extents)...);
    attach(t_dev(Kokkos::view_alloc(host.label()), host.layout()), host);
    ++Access::flags (*this)(0);
  }

  t_host m_host;
};

}  // namespace KokkosHostSpaces

// Overloads of functions that would turn it into a DualView with a pageable side.
namespace Kokkos {

/// True, as for a DualView.
template <class DataType, class... Properties>
struct is_dual_view<KokkosHostSpaces::PinnedDualView<DataType, Properties...>> : std::true_type {};
template <class DataType, class... Properties>
struct is_dual_view<KokkosHostSpaces::PinnedDualView<DataType, Properties...> const>
    : std::true_type {};

/// A part of a PinnedDualView is a PinnedDualView.
template <class DataType, class... Properties, class... Args>
auto subview(KokkosHostSpaces::PinnedDualView<DataType, Properties...> const& whole,
             Args&&... args) {
  using Part = decltype(subview(std::declval<View<DataType, Properties...>>(), args...));
  return typename KokkosHostSpaces::Impl::PinnedDualOf<Part>::type(whole, args...);
}

/// dual.resize(args...)
template <class DataType, class... Properties, class... Args>
void resize(KokkosHostSpaces::PinnedDualView<DataType, Properties...>& dual, Args&&... args) {
  dual.resize(args...);
}

/// The same with the result of view_alloc, an instance, or WithoutInitializing.
template <class Property, class Data, class... Properties, class... Args>
void resize(Property const& property, KokkosHostSpaces::PinnedDualView<Data, Properties...>& dual,
            Args&&... args) {
  dual.resize(KokkosHostSpaces::Impl::properties_of(property), args...);
}

/// dual.realloc(args...)
template <class DataType, class... Properties, class... Args>
void realloc(KokkosHostSpaces::PinnedDualView<DataType, Properties...>& dual, Args&&... args) {
  dual.realloc(args...);
}

/// The same with the result of view_alloc, an instance, or WithoutInitializing.
template <class Property, class Data, class... Properties, class... Args>
void realloc(Property const& property, KokkosHostSpaces::PinnedDualView<Data, Properties...>& dual,
             Args&&... args) {
  dual.realloc(KokkosHostSpaces::Impl::properties_of(property), args...);
}

}  // namespace Kokkos

#endif
