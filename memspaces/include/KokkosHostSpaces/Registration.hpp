// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_REGISTRATION_HPP
#define KOKKOS_HOST_SPACES_REGISTRATION_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>

#include <any>
#include <cstddef>
#include <ranges>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// Page-locks memory that somebody else allocated, for its own lifetime, and hands out Views on it
/// in PinnedSpace or MappedSpace. The memory must stay allocated until the Registration is gone.
///
/// Registering blocks the calling thread, about 40 ms a GiB for memory that was touched already,
/// and does not wait for kernels; releasing waits for all running kernels. Without a device it only
/// checks.
class Registration {
 public:
  /// Registers [pointer, pointer + bytes).
  /// \throw RegistrationError for a null pointer, zero bytes, memory that is not mapped or
  /// read-only, or that overlaps a range which is registered or page-locked already.
  Registration(void* pointer, std::size_t bytes, std::string label = "unlabeled");

  /// Registers the elements of a std::vector or another contiguous range; do not let it reallocate.
  template <class Range>
  requires std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
      (!Kokkos::is_view_v<Range>)explicit Registration(Range& range,
                                                       std::string label = "unlabeled")
      : Registration(std::ranges::data(range),
                     std::ranges::size(range) * sizeof(std::ranges::range_value_t<Range>),
                     std::move(label)) {}

  /// Registers the memory of a HostSpace View, under its label, and keeps the View alive.
  template <class DataType, class... Properties>
  requires std::is_same_v<typename Kokkos::View<DataType, Properties...>::memory_space,
                          Kokkos::HostSpace>
  explicit Registration(Kokkos::View<DataType, Properties...> const& view)
      : Registration(view.data(), view.span() * sizeof(*view.data()), view.label()) {
    m_owner = view;
  }

  /// Takes the range over; `other` holds none afterwards.
  Registration(Registration&& other) noexcept;
  /// Exchanges the ranges: `other` releases what this one had when it ends.
  Registration& operator=(Registration&& other) noexcept;

  /// Releases the range. A problem is reported on stderr, not thrown.
  ~Registration();

  /// Releases the range now; Views handed out must not be used any more.
  /// \throw RegistrationError if the memory was freed while it was registered. The range is
  /// released all the same.
  void release();

  /// Where the range begins; nullptr once it is released.
  void* data() const noexcept { return m_pointer; }
  /// The size of the range; 0 once it is released.
  std::size_t bytes() const noexcept { return m_bytes; }
  /// The name given at construction.
  std::string const& label() const noexcept { return m_label; }

  /// An unmanaged View of the registered memory, for example `view<double**, MappedSpace>(rows,
  /// columns)`. \throw RegistrationError if the extents need more bytes than are registered.
  template <class DataType, class Space = PinnedSpace, class... Extents>
  auto view(Extents... extents) const {
    using View = Kokkos::View<DataType, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    static_assert(is_view_space<Space>,
                  "Views of registered memory are in PinnedSpace or MappedSpace");
    check_view(m_pointer, View::required_allocation_size(std::size_t(extents)...), Space::name());
    return View(static_cast<typename View::pointer_type>(m_pointer), extents...);
  }

  /// The same memory as a HostSpace View inside the registered range, of its shape and layout, in
  /// `Space`. \throw RegistrationError if the View is not inside the range.
  template <class Space = PinnedSpace, class DataType, class... Properties>
  auto view_of(Kokkos::View<DataType, Properties...> const& host) const {
    using Host = Kokkos::View<DataType, Properties...>;
    using View = Kokkos::View<DataType, typename Host::array_layout, Space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    static_assert(is_view_space<Space>,
                  "Views of registered memory are in PinnedSpace or MappedSpace");
    check_view(host.data(), host.span() * sizeof(typename Host::value_type), Space::name());
    return View(host.data(), host.layout());
  }

 private:
  template <class Space>
  static constexpr bool is_view_space =
      std::is_same_v<Space, PinnedSpace> || std::is_same_v<Space, MappedSpace>;

  void check_view(void const* pointer, std::size_t bytes, char const* space) const;

  void* m_pointer     = nullptr;
  std::size_t m_bytes = 0;
  std::string m_label;
  std::any m_owner;  // the View that was registered, if it was one
};

}  // namespace KokkosHostSpaces

#endif
