// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_REGISTRATION_HPP
#define KOKKOS_HOST_SPACES_REGISTRATION_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>
#include <KokkosHostSpaces/impl/core/UnmanagedView.hpp>

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// The effect of fork() on registered memory.
enum class AtFork {
  copy,      ///< the child has the memory: the system copies it, which takes 0.5 s for each GiB
  leave_out  ///< the child does not have the memory, and fork copies nothing
};

/// Page-locks memory allocated elsewhere (std::vector, mmap, a HostSpace View) for its own
/// lifetime, and makes Views of it in PinnedSpace or MappedSpace. Destroy it before the memory is
/// freed.
///
/// Registering takes about 40 ms for each GiB of memory that was touched before, and does not wait for
/// kernels. Releasing waits for all running kernels. Without a device, and with HIP and SYCL, the range is only checked, and
/// before Kokkos::initialize, which then page-locks it; what it cannot lock it tells on stderr.
///
/// AtFork::leave_out needs a range of whole pages (std::aligned_alloc, mmap). The child must
/// neither touch nor free them. It has no effect without a device, and ends with the Registration.
/// libibverbs undoes it if a memory region in these pages is deregistered after ibv_fork_init,
/// since it calls madvise(MADV_DOFORK).
class Registration {
  template <class Range>
  static constexpr bool is_range =
      std::ranges::contiguous_range<Range>&& std::ranges::sized_range<Range> &&
      !Kokkos::is_view_v<std::remove_cvref_t<Range>>;

 public:
  /// Registers [pointer, pointer + bytes).
  /// \throw RegistrationError for a null pointer, zero bytes, memory that is read-only or not mapped, that
  /// overlaps a registered or page-locked range, that the runtime refuses, or, with AtFork::leave_out,
  /// that is not of whole pages
  Registration(void* pointer, std::size_t bytes, std::string label = "unlabeled",
               AtFork at_fork = AtFork::copy);

  /// Registers the elements of a std::vector, a std::span or another contiguous range, which must not
  /// reallocate. If the elements are const, so are those of its Views; their pages must be writable
  /// all the same.
  /// \throw RegistrationError as above
  template <class Range>
  requires(is_range<Range>&& std::ranges::borrowed_range<Range>) explicit Registration(
      Range&& range, std::string label = "unlabeled", AtFork at_fork = AtFork::copy)
      : Registration(const_cast<void*>(static_cast<void const*>(std::ranges::data(range))),
                     std::ranges::size(range) * sizeof(std::ranges::range_value_t<Range>),
                     std::move(label), at_fork) {
    m_is_const = std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;
  }

  /// \cond
  template <class Range>
  requires(is_range<Range> && !std::ranges::borrowed_range<Range>)  //
      explicit Registration(Range&&, std::string = "", AtFork = AtFork::copy) {
    static_assert(
        Impl::never_v<Range>,
        "a Registration takes a range that lives: a temporary container is gone at once (name "
        "it, or pass a std::span of its elements)");
  }
  /// \endcond

  /// Registers the memory of a HostSpace View under its label, and keeps the View. Const elements as
  /// above.
  /// \throw RegistrationError as above
  template <class DataType, class... Properties>
  requires std::is_same_v<typename Kokkos::View<DataType, Properties...>::memory_space,
                          Kokkos::HostSpace>
  explicit Registration(Kokkos::View<DataType, Properties...> const& view,
                        AtFork at_fork = AtFork::copy)
      : Registration(const_cast<void*>(static_cast<void const*>(view.data())),
                     view.span() * sizeof(*view.data()), view.label(), at_fork) {
    Impl::check_plain<Kokkos::View<DataType, Properties...>>();
    m_owner    = view;
    m_is_const = std::is_const_v<typename Kokkos::View<DataType, Properties...>::value_type>;
  }

  /// Takes over the range of `other`, which has none afterwards.
  Registration(Registration&& other) noexcept;
  /// Swaps the ranges: the destructor of `other` releases the old range of this object.
  Registration& operator=(Registration&& other) noexcept;

  /// Releases the range; waits for all running kernels. Reports errors on stderr.
  ~Registration();

  /// Releases the range now; waits for all running kernels. Its Views must not be used any more.
  /// \throw RegistrationError if the memory was freed while it was registered; the range is
  /// released
  void release();

  /// The beginning of the range; nullptr after release(). Do not write to const elements.
  void* data() const noexcept { return m_pointer; }
  /// The size of the range; 0 after release().
  std::size_t bytes() const noexcept { return m_bytes; }
  /// The label of the constructor.
  std::string const& label() const noexcept { return m_label; }

  /// An unmanaged View of the registered memory with these properties of a Kokkos::View, by default in
  /// PinnedSpace: `view<double**, Kokkos::LayoutLeft, MappedSpace>(rows, columns)`.
  /// \throw RegistrationError if the extents need more bytes than are registered, if the elements were
  /// registered as const and `DataType` is not, or for MappedSpace with HIP and SYCL
  template <class DataType, class... Properties, class... Extents>
  auto view(Extents... extents) const {
    using View  = typename Impl::UnmanagedViewOf<PinnedSpace, DataType, Properties...>::type;
    using Space = typename View::memory_space;
    Impl::check_plain<View>();
    static_assert(is_view_space<Space>,
                  "Views of registered memory are in PinnedSpace or MappedSpace");
    if constexpr (std::is_same_v<Space, MappedSpace>) check_kernels();
    static_assert(!std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>,
                  "Views of registered memory are dense: make strided ones of them by subview");
    static_assert(sizeof...(Extents) >= View::rank_dynamic, "each dynamic extent is needed");
    if constexpr (!std::is_const_v<typename View::value_type>) check_may_write();
    check_view(m_pointer, bytes_of<View>({std::size_t(extents)...}), Space::name());
    return View(static_cast<typename View::pointer_type>(m_pointer), extents...);
  }

  /// An unmanaged View in `Space` of the memory of a HostSpace View, of its shape, layout and memory
  /// traits.
  /// \throw RegistrationError if the View is not inside the registered range
  template <class Space = PinnedSpace, class DataType, class... Properties>
  auto view_of(Kokkos::View<DataType, Properties...> const& host) const {
    using Host = Kokkos::View<DataType, Properties...>;
    using View = Impl::UnmanagedViewIn<Host, Space>;
    static_assert(is_view_space<Space>,
                  "Views of registered memory are in PinnedSpace or MappedSpace");
    if constexpr (std::is_same_v<Space, MappedSpace>) check_kernels();
    check_view(host.data(), host.span() * sizeof(typename Host::value_type), Space::name());
    return View(host.data(), host.layout());
  }

 private:
  template <class Space>
  static constexpr bool is_view_space =
      std::is_same_v<Space, PinnedSpace> || std::is_same_v<Space, MappedSpace>;

  /// Bytes of a View with these dynamic extents; SIZE_MAX if they overflow size_t.
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

  void check_kernels() const;
  void check_may_write() const;
  void check_view(void const* pointer, std::size_t bytes, char const* space) const;

  void* m_pointer     = nullptr;
  std::size_t m_bytes = 0;
  std::string m_label;
  std::any m_owner;         // the registered View, if it was a View
  bool m_is_const = false;  // the elements were registered as const
};

}  // namespace KokkosHostSpaces

#endif
