// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_REGISTRATION_HPP
#define KOKKOS_HOST_SPACES_REGISTRATION_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// What a child of fork() finds of registered memory.
enum class AtFork {
  copy,      ///< all of it. The system copies page-locked memory during the fork: 0.5 s a GiB
  leave_out  ///< nothing: the addresses are not mapped in the child, and a fork costs nothing
};

/// Page-locks memory that somebody else allocated, for its own lifetime, and hands out Views on it
/// in PinnedSpace or MappedSpace. The memory must stay allocated until the Registration is gone.
///
/// Registering blocks the calling thread, about 40 ms a GiB for memory that was touched already,
/// and does not wait for kernels; releasing waits for all running kernels. Without a device it only
/// checks.
///
/// AtFork::leave_out wants a range of whole pages (std::aligned_alloc, mmap). The child must not
/// touch them, nor free them. It takes effect where there is a device, and ends with the
/// Registration. libibverbs undoes it where a memory region is deregistered in such pages after
/// ibv_fork_init (it calls madvise(MADV_DOFORK)).
class Registration {
 public:
  /// Registers [pointer, pointer + bytes).
  /// \throw RegistrationError for a null pointer, zero bytes, memory that is not mapped or
  /// read-only, that overlaps a range which is registered or page-locked already, that the runtime
  /// refuses, or that shall be left out at a fork and is not of whole pages.
  Registration(void* pointer, std::size_t bytes, std::string label = "unlabeled",
               AtFork at_fork = AtFork::copy);

  /// Registers the elements of a std::vector or another contiguous range; do not let it reallocate.
  template <class Range>
  requires std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
      (!Kokkos::is_view_v<Range>)explicit Registration(Range& range,
                                                       std::string label = "unlabeled",
                                                       AtFork at_fork    = AtFork::copy)
      : Registration(std::ranges::data(range),
                     std::ranges::size(range) * sizeof(std::ranges::range_value_t<Range>),
                     std::move(label), at_fork) {}

  /// Registers the memory of a HostSpace View, under its label, and keeps the View alive.
  template <class DataType, class... Properties>
  requires std::is_same_v<typename Kokkos::View<DataType, Properties...>::memory_space,
                          Kokkos::HostSpace>
  explicit Registration(Kokkos::View<DataType, Properties...> const& view,
                        AtFork at_fork = AtFork::copy)
      : Registration(view.data(), view.span() * sizeof(*view.data()), view.label(), at_fork) {
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
    static_assert(sizeof...(Extents) >= View::rank_dynamic, "each dynamic extent is needed");
    check_view(m_pointer, bytes_of<View>({std::size_t(extents)...}), Space::name());
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

  /// Bytes of a View with these dynamic extents; SIZE_MAX if there are not so many addresses.
  template <class View>
  static std::size_t bytes_of(std::array<std::size_t, View::rank> const& dynamic) {
    std::size_t bytes = sizeof(typename View::value_type);
    for (std::size_t i = 0; i < View::rank; ++i) {
      std::size_t const extent = i < View::rank_dynamic ? dynamic[i] : View::static_extent(i);
      bool const overflows     = extent != 0 && bytes > SIZE_MAX / extent;
      bytes                    = overflows ? SIZE_MAX : bytes * extent;
    }
    return bytes;
  }

  void check_view(void const* pointer, std::size_t bytes, char const* space) const;

  void* m_pointer     = nullptr;
  std::size_t m_bytes = 0;
  std::string m_label;
  std::any m_owner;  // the View that was registered, if it was one
};

}  // namespace KokkosHostSpaces

#endif
