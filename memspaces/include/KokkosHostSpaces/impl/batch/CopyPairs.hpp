// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pairs of deep_copy_all, given as ranges of Views, as arguments, or as slices of two Views.
// Each class visits its pairs as Views and as pieces.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_PAIRS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_PAIRS_HPP

#include <KokkosHostSpaces/Slice.hpp>
#include <KokkosHostSpaces/impl/batch/PieceTable.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>

#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

template <class Range>
concept RangeOfViews =
    std::ranges::sized_range<Range const> && std::ranges::forward_range<Range const> &&
    Kokkos::is_view_v<std::ranges::range_value_t<Range const>>;

/// A range of std::pair of Views.
template <class Range>
concept RangeOfPairs =
    std::ranges::sized_range<Range const> && std::ranges::forward_range<Range const> &&
    Kokkos::is_view_v<typename std::ranges::range_value_t<Range const>::first_type> &&
    Kokkos::is_view_v<typename std::ranges::range_value_t<Range const>::second_type>;

template <class Dst, class Src>
inline constexpr bool are_bytes_v = PlainView<Dst>&& PlainView<Src>&&
    std::is_same_v<typename Dst::value_type, typename Src::non_const_value_type>&&
        is_known_space_v<typename Dst::memory_space>&& is_known_space_v<typename Src::memory_space>;

/// At least one side is on a device. Other pairs are copied by the host or by a kernel.
template <class Dst, class Src>
inline constexpr bool has_device_v =
    is_used_by_cuda_v<typename Dst::memory_space> || is_used_by_cuda_v<typename Src::memory_space>;

template <class Dst, class Src>
inline constexpr bool has_pageable_v =
    is_pageable_v<typename Dst::memory_space> || is_pageable_v<typename Src::memory_space>;

/// The copy goes from page-locked memory to a device.
template <class Dst, class Src>
inline constexpr bool is_to_device_v =
    is_cuda_only_v<typename Dst::memory_space> && !is_used_by_cuda_v<typename Src::memory_space> &&
    !is_pageable_v<typename Src::memory_space>;

/// If both Views are without gaps, their elements have the same order.
template <class Dst, class Src>
inline constexpr bool is_one_order_v =
    Dst::rank() <= 1 || (std::is_same_v<typename Dst::array_layout, typename Src::array_layout> &&
                         !std::is_same_v<typename Dst::array_layout, Kokkos::LayoutStride>);

/// Returns the pair as one piece; nothing if it is not contiguous on both sides in the same order.
template <class Dst, class Src>
std::optional<Piece> piece_of(Dst const& dst, Src const& src) {
  if constexpr (are_bytes_v<Dst, Src>) {
    auto const piece = [&](std::size_t bytes) {
      return Piece{reinterpret_cast<char*>(dst.data()), reinterpret_cast<char const*>(src.data()),
                   bytes};
    };
    if (is_one_order_v<Dst, Src> && dst.span_is_contiguous() && src.span_is_contiguous())
      return piece(dst.span() * sizeof(typename Dst::value_type));  // quicker than a plan
    if (CopyPlan const plan = plan_for(dst, src); plan.contiguous()) return piece(plan.run_bytes);
  }
  return std::nullopt;
}

template <class Dst, class Src>
int device_of_pair(Dst const& dst, Src const& src) {
  return has_device_v<Dst, Src> ? device_of(dst.data(), src.data()) : -1;
}

/// The functions that PairsOfRanges and PairsOfArguments share.
/// \tparam Derived has for_each(visit), which calls visit(dst, src) with the Views of each pair
template <class Derived>
class PairsOfViews {
 public:
  /// Calls visit.operator()<Dst, Src>(piece) for each pair that has something to copy; the piece is
  /// empty if the pair is not contiguous. \throw Error
  template <class Visit>
  void for_each_piece(Visit const& visit) const {
    derived().for_each([&]<class Dst, class Src>(Dst const& dst, Src const& src) {
      check_types<Dst, Src>();
      if (!check_views(dst, src)) return;
      auto const piece = piece_of(dst, src);
      if (piece && piece->dst == piece->src) return;
      visit.template operator()<Dst, Src>(piece);
    });
  }

  /// Returns a device whose memory takes part; -1 if there is none.
  int device() const {
    int device = -1;
    derived().for_each([&](auto const& dst, auto const& src) {
      if (device < 0) device = device_of_pair(dst, src);
    });
    return device;
  }

  /// Describes the first pair for which is_it(piece, index) holds; nothing if there is none.
  template <class IsIt>
  std::optional<std::string> describe_first(IsIt const& is_it) const {
    std::optional<std::string> text;
    std::size_t index = 0;
    derived().for_each([&](auto const& dst, auto const& src) {
      auto const piece = piece_of(dst, src);
      if (!text && piece && is_it(*piece, index))
        text = shape_of(dst) + " <- " + shape_of(src) + " of " + std::to_string(piece->bytes) +
               " bytes";
      ++index;
    });
    return text;
  }

 private:
  Derived const& derived() const { return static_cast<Derived const&>(*this); }
};

/// Pairs of two ranges, each of Views of one type.
template <class Dsts, class Srcs>
class PairsOfRanges : public PairsOfViews<PairsOfRanges<Dsts, Srcs>> {
 public:
  static constexpr bool are_to_device = is_to_device_v<std::ranges::range_value_t<Dsts const>,
                                                       std::ranges::range_value_t<Srcs const>>;

  PairsOfRanges(Dsts const& dsts, Srcs const& srcs) : m_dsts(dsts), m_srcs(srcs) {
    if (std::ranges::size(dsts) != std::ranges::size(srcs))
      throw Error("KokkosHostSpaces::deep_copy_all of " + std::to_string(std::ranges::size(srcs)) +
                  " sources to " + std::to_string(std::ranges::size(dsts)) +
                  " destinations (each source has one destination): make the two equally long");
  }
  std::size_t size() const { return std::ranges::size(m_dsts); }

  template <class Visit>
  void for_each(Visit const& visit) const {
    auto src = std::ranges::begin(m_srcs);
    for (auto const& dst : m_dsts) visit(dst, *src++);
  }

 private:
  Dsts const& m_dsts;
  Srcs const& m_srcs;
};

/// A range of std::pair of Views.
template <class Range>
class PairsOfPairs : public PairsOfViews<PairsOfPairs<Range>> {
  using Pair = std::ranges::range_value_t<Range const>;

 public:
  static constexpr bool are_to_device =
      is_to_device_v<typename Pair::first_type, typename Pair::second_type>;

  explicit PairsOfPairs(Range const& pairs) : m_pairs(pairs) {}
  std::size_t size() const { return std::ranges::size(m_pairs); }

  template <class Visit>
  void for_each(Visit const& visit) const {
    for (Pair const& pair : m_pairs) visit(pair.first, pair.second);
  }

 private:
  Range const& m_pairs;
};

/// Pairs of any types.
template <class... Copies>
class PairsOfArguments : public PairsOfViews<PairsOfArguments<Copies...>> {
 public:
  static constexpr bool are_to_device =
      (is_to_device_v<decltype(Copies::dst), decltype(Copies::src)> && ...);

  explicit PairsOfArguments(Copies const&... copies) : m_copies(copies...) {}
  static constexpr std::size_t size() { return sizeof...(Copies); }

  template <class Visit>
  void for_each(Visit const& visit) const {
    std::apply([&](auto const&... copy) { (visit(copy.dst, copy.src), ...); }, m_copies);
  }

 private:
  std::tuple<Copies const&...> m_copies;
};

/// Slices of two Views of one dimension. Pieces are computed from the numbers of a slice; subviews are
/// made only for for_each.
template <class Dst, class Src>
class PairsOfSlices {
  template <class View>
  static constexpr bool is_dense_v =
      std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft> ||
      std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>;
  static_assert(Dst::rank == 1 && Src::rank == 1 && is_dense_v<Dst> && is_dense_v<Src>,
                "slices are of Views of one dimension, in LayoutLeft or LayoutRight");
  static_assert(
      std::is_same_v<typename Dst::non_const_value_type, typename Src::non_const_value_type>,
      "slices are of Views of the same value type");
  static_assert(!std::is_const_v<typename Dst::value_type>,
                "slices are written to a View whose elements are not const");

 public:
  static constexpr bool are_to_device = is_to_device_v<Dst, Src>;

  PairsOfSlices(Dst const& dst, Src const& src, std::span<Slice const> slices)
      : m_dst(dst), m_src(src), m_slices(slices) {
    check_types<Dst, Src>();
  }
  std::size_t size() const { return m_slices.size(); }

  /// See PairsOfViews. \throw Error
  template <class Visit>
  void for_each_piece(Visit const& visit) const {
    bool const have_memory = m_dst.data() != nullptr && m_src.data() != nullptr;
    for (std::size_t i = 0; i < size(); ++i) {
      check(i);
      Piece const piece = piece_at(i);
      if (piece.bytes == 0 || !have_memory || piece.dst == piece.src) continue;
      if (piece.dst < piece.src + piece.bytes && piece.src < piece.dst + piece.bytes)
        throw Error("KokkosHostSpaces::deep_copy_all: copy " + describe(i) +
                    " writes what it reads (in no order): copy through a third View");
      visit.template operator()<Dst, Src>(are_bytes_v<Dst, Src> ? std::optional(piece)
                                                                : std::nullopt);
    }
  }
  /// As Views. \throw Error
  template <class Visit>
  void for_each(Visit const& visit) const {
    for (std::size_t i = 0; i < size(); ++i) {
      check(i);
      Slice const& slice = m_slices[i];
      visit(part(m_dst, slice.dst, slice.count), part(m_src, slice.src, slice.count));
    }
  }
  template <class IsIt>
  std::optional<std::string> describe_first(IsIt const& is_it) const {
    for (std::size_t i = 0; i < size(); ++i)
      if (is_it(piece_at(i), i)) return describe(i);
    return std::nullopt;
  }
  int device() const { return device_of_pair(m_dst, m_src); }

 private:
  static constexpr std::size_t element = sizeof(typename Dst::value_type);

  Piece piece_at(std::size_t i) const {
    Slice const& slice = m_slices[i];
    return {reinterpret_cast<char*>(m_dst.data()) + slice.dst * element,
            reinterpret_cast<char const*>(m_src.data()) + slice.src * element,
            slice.count * element};
  }
  template <class View>
  static auto part(View const& view, std::size_t first, std::size_t count) {
    return Kokkos::subview(view, std::pair(first, first + count));
  }
  std::string describe(std::size_t i) const {
    Slice const& slice = m_slices[i];
    return "by slice " + std::to_string(i) + " of " + describe_side(m_dst, slice.dst, slice.count) +
           " <- " + describe_side(m_src, slice.src, slice.count) + ", " +
           std::to_string(slice.count * element) + " bytes,";
  }
  template <class View>
  static std::string describe_side(View const& view, std::size_t first, std::size_t count) {
    return std::to_string(count) + " elements from " + std::to_string(first) + " on of " +
           shape_of(view);
  }
  static bool is_within(std::size_t first, std::size_t count, std::size_t extent) {
    return count <= extent && first <= extent - count;
  }
  void check(std::size_t i) const {
    Slice const& slice   = m_slices[i];
    bool const is_in_dst = is_within(slice.dst, slice.count, m_dst.extent(0));
    if (is_in_dst && is_within(slice.src, slice.count, m_src.extent(0))) return;
    std::string const side = is_in_dst ? describe_side(m_src, slice.src, slice.count)
                                       : describe_side(m_dst, slice.dst, slice.count);
    throw Error("KokkosHostSpaces::deep_copy_all: slice " + std::to_string(i) + ", " + side +
                ", is not in it (offsets and counts are numbers of elements, and no slice goes "
                "beyond its View): give what lies in both Views");
  }

  Dst const& m_dst;
  Src const& m_src;
  std::span<Slice const> m_slices;
};

}  // namespace KokkosHostSpaces::Impl

#endif
