// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PINNED_DUAL_VIEW_HPP
#define KOKKOS_HOST_SPACES_PINNED_DUAL_VIEW_HPP

#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/views/DualViewGlue.hpp>
#include <KokkosHostSpaces/impl/views/PinnedSide.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces {

/// A Kokkos::DualView whose host side lies in PinnedSpace: `sync_device(instance)` and
/// `sync_host(instance)` are one copy at the full rate of the link, enqueued on the instance, and
/// return. Fence the instance before the host reads what was synchronised, or writes what is being
/// copied. Without an instance they block, as Kokkos says.
///
/// It is a DualView with the same flags, errors and tools' events, and can be passed wherever one is
/// taken: copies of it as a DualView share its memory and flags. What such code synchronises is
/// pinned memory as well, but typed HostSpace, and if it resizes, the host side becomes pageable,
/// which this class then tells: `resize` and `realloc` of this class keep it. The device side is in device memory; without a
/// device both sides are the same memory, in PinnedSpace, and nothing is copied.
template <class DataType, class... Properties>
class PinnedDualView : public Kokkos::DualView<DataType, Properties...> {
  using Base  = Kokkos::DualView<DataType, Properties...>;
  using Parts = Impl::PartsOf<Base>;

 public:
  /// The View of the device.
  using t_dev = typename Base::t_dev;
  /// The View of the host.
  using t_host = Kokkos::View<typename Base::t_host::data_type, typename t_dev::array_layout,
                              Kokkos::Device<Kokkos::DefaultHostExecutionSpace, PinnedSpace>>;
  /// Are both sides the same memory?
  static constexpr bool shares_memory =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename t_dev::memory_space>::accessible;
  static_assert(!shares_memory || Impl::is_pageable_v<typename t_dev::memory_space>,
                "the device side of a PinnedDualView lies in device memory (or in HostSpace, where "
                "kernels are host code): for other spaces take Kokkos::DualView");

  /// Without memory.
  PinnedDualView() = default;

  /// Zeros on both sides. \throw OutOfPinnedMemory
  template <Impl::Extent... N>
  explicit PinnedDualView(std::string const& label, N... extents)
      : PinnedDualView(Kokkos::view_alloc(label), extents...) {}

  /// As Kokkos::view_alloc says: label, instance, WithoutInitializing. With an instance the device
  /// side is filled by it, and the host side lies near its device. \throw OutOfPinnedMemory
  template <class... P, Impl::Extent... N>
  explicit PinnedDualView(Impl::ViewProperties<P...> const& properties, N... extents) {
    static_assert(!Impl::ViewProperties<P...>::has_pointer, "a PinnedDualView owns its memory");
    if constexpr (shares_memory) {
      t_host const both(properties, extents...);
      attach(both, both);
    } else {
      t_dev const device(properties, extents...);
      attach(device, Impl::pinned_like<t_host>(properties, device));
    }
  }

  /// The same memory and flags, as Views are converted.
  template <class OtherData, class... Others>
  PinnedDualView(PinnedDualView<OtherData, Others...> const& other)
      : Base(other), m_host(other.view_host()) {}

  /// A part of it, as of Kokkos::subview; shares memory and flags.
  template <class OtherData, class... Others, class First, class... Rest>
  PinnedDualView(PinnedDualView<OtherData, Others...> const& whole, First const& first,
                 Rest const&... rest)
      : Base(whole, first, rest...), m_host(Kokkos::subview(whole.view_host(), first, rest...)) {}

  /// The side of the host. \throw Error if it was resized as a Kokkos::DualView
  t_host const& view_host() const {
    Impl::insist_on_pinned(m_host, Base::view_host());
    return m_host;
  }

  /// The side of a device, an execution space, or a memory space (PinnedSpace: the host's).
  template <class Device>
  auto view() const {
    using View = decltype(std::declval<Base const&>().template view<Impl::SideOf<Device>>());
    constexpr bool is_host = !shares_memory && std::is_same_v<View, typename Base::t_host>;
    if constexpr (Impl::names_pinned<Device> || is_host)
      return view_host();
    else
      return Base::template view<Device>();
  }

  /// If the host's side was modified: enqueues one copy of it to the device's on the instance.
  /// Without an instance it blocks.
  template <class... Instance>
  void sync_device(Instance const&... instance) {
    static_assert(sizeof...(Instance) <= 1);
    if constexpr (is_const) {
      Base::sync_device(instance...);  // says that it cannot
    } else if constexpr (!shares_memory) {
      if (!this->need_sync_device()) return;
      Kokkos::deep_copy(instance..., Base::view_device(), view_host());
      this->clear_sync_state();
      Parts::report_device_sync(*this);
    }
  }

  /// The same from the device's side to the host's.
  template <class... Instance>
  void sync_host(Instance const&... instance) {
    static_assert(sizeof...(Instance) <= 1);
    if constexpr (is_const) {
      Base::sync_host(instance...);
    } else if constexpr (!shares_memory) {
      if (!this->need_sync_host()) return;
      Kokkos::deep_copy(instance..., view_host(), Base::view_device());
      this->clear_sync_state();
      Parts::report_host_sync(*this);
    }
  }

  /// Brings the side up to date that `Device` names, as in view().
  template <class Device, class... Instance>
  void sync(Instance const&... instance) {
    if constexpr (!shares_memory) {
      if (Parts::template is_device_side<Impl::SideOf<Device>>())
        sync_device(instance...);
      else
        sync_host(instance...);
    }
  }

  /// Is the side out of date that `Device` names?
  template <class Device>
  bool need_sync() const {
    return !shares_memory && Base::template need_sync<Impl::SideOf<Device>>();
  }

  /// Marks the side as modified that `Device` names. Ends the program if the other one is, too.
  template <class Device>
  void modify() {
    if constexpr (!shares_memory) Base::template modify<Impl::SideOf<Device>>();
  }

  /// Other extents; keeps the contents of the side that was modified last, and marks it as modified.
  /// \throw OutOfPinnedMemory
  template <Impl::Extent... N>
  void resize(N... extents) {
    resize(Kokkos::view_alloc(), extents...);
  }

  /// As above; an instance synchronises and copies the side that it reaches.
  template <class... P, Impl::Extent... N>
  void resize(Impl::ViewProperties<P...> const& properties, N... extents) {
    repin();
    if (Impl::has_extents(m_host, extents...)) return;
    using Given = Impl::ViewProperties<P...>;
    if constexpr (shares_memory) {
      t_host both = m_host;
      Kokkos::resize(properties, both, extents...);
      attach(both, both);
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

  /// Other extents without the contents; nothing is modified then. \throw OutOfPinnedMemory, and is
  /// without memory then
  template <Impl::Extent... N>
  void realloc(N... extents) {
    realloc(Kokkos::view_alloc(), extents...);
  }

  /// As above, with an instance or WithoutInitializing.
  template <class... P, Impl::Extent... N>
  void realloc(Impl::ViewProperties<P...> const& properties, N... extents) {
    repin();
    t_dev device     = Base::view_device();
    t_host host      = m_host;
    auto const flags = Parts::flags(*this);
    if (!Impl::has_extents(m_host, extents...)) {
      *this = PinnedDualView();  // what is given back first need not be there twice
      if constexpr (shares_memory) {
        device = {};
        Kokkos::realloc(properties, host, extents...);
        device = host;
      } else {
        host = {};
        Kokkos::realloc(properties, device, extents...);
        host = Impl::pinned_like<t_host>(properties, device);
      }
      Parts::flags(*this) = flags;
      attach(device, host);
    } else if constexpr (Impl::ViewProperties<P...>::initialize) {
      Kokkos::realloc(properties, device, extents...);  // fills it again
    }
    this->clear_sync_state();
  }

 private:
  static constexpr bool is_const =
      !std::is_same_v<typename t_dev::data_type, typename t_dev::non_const_data_type>;

  // Takes new memory for both sides, and leaves the flags to all that share them.
  void attach(t_dev const& device, t_host const& host) {
    auto const flags          = Parts::flags(*this);
    static_cast<Base&>(*this) = Base(device, host);
    if (flags.data() != nullptr) Parts::flags(*this) = flags;
    m_host = host;
  }

  // What others have resized becomes pinned again, with its contents.
  void repin() {
    if (m_host.data() == Base::view_host().data()) return;
    t_host const host = Impl::pinned_copy<t_host>(Base::view_host());
    if constexpr (shares_memory) attach(host, host);
    if constexpr (!shares_memory) attach(Base::view_device(), host);
  }

  template <class... P, class... N>
  void resize_device(Impl::ViewProperties<P...> const& properties, N... extents) {
    t_dev device = Base::view_device();
    Kokkos::resize(properties, device, extents...);
    attach(device, Impl::pinned_like<t_host>(properties, device));
    ++Parts::flags (*this)(1);
  }

  template <class... P, class... N>
  void resize_host(Impl::ViewProperties<P...> const& properties, N... extents) {
    t_host host = m_host;
    Kokkos::resize(properties, host, extents...);
    attach(t_dev(Kokkos::view_alloc(host.label()), host.layout()), host);
    ++Parts::flags (*this)(0);
  }

  t_host m_host;
};

}  // namespace KokkosHostSpaces

// As Kokkos has them for DualView, of which they would make one with a pageable side.
namespace Kokkos {

/// Templates of others take it for what it is.
template <class DataType, class... Properties>
struct is_dual_view<KokkosHostSpaces::PinnedDualView<DataType, Properties...>> : std::true_type {};
template <class DataType, class... Properties>
struct is_dual_view<KokkosHostSpaces::PinnedDualView<DataType, Properties...> const>
    : std::true_type {};

/// A part of a PinnedDualView is one, too.
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

/// The same with what view_alloc made, an instance, or WithoutInitializing.
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

/// The same with what view_alloc made, an instance, or WithoutInitializing.
template <class Property, class Data, class... Properties, class... Args>
void realloc(Property const& property, KokkosHostSpaces::PinnedDualView<Data, Properties...>& dual,
             Args&&... args) {
  dual.realloc(KokkosHostSpaces::Impl::properties_of(property), args...);
}

}  // namespace Kokkos

#endif
