// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pairs of Views that deep_copy_all is given, in one way or another.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_PAIRS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_PAIRS_HPP

#include <KokkosHostSpaces/impl/batch/CopyAll.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>

namespace KokkosHostSpaces::Impl {

template <class Range>
concept RangeOfViews =
    std::ranges::sized_range<Range const> && std::ranges::forward_range<Range const> &&
    Kokkos::is_view_v<std::ranges::range_value_t<Range const>>;

template <class Dst, class Src>
int device_of_pair(Dst const& dst, Src const& src) {
  return has_device_v<Dst, Src> ? device_of(dst.data(), src.data()) : -1;
}

template <class Dst, class Src>
std::string describe_pair(Dst const& dst, Src const& src) {
  return shape_of(dst) + " <- " + shape_of(src) + " of " +
         std::to_string(dst.size() * sizeof(typename Dst::value_type)) + " bytes";
}

/// Pairs of two ranges, each of Views of one type.
template <class Dsts, class Srcs>
class PairsOfRanges {
 public:
  PairsOfRanges(Dsts const& dsts, Srcs const& srcs) : m_dsts(dsts), m_srcs(srcs) {
    if (std::ranges::size(dsts) != std::ranges::size(srcs))
      throw Error("KokkosHostSpaces::deep_copy_all of " + std::to_string(std::ranges::size(srcs)) +
                  " sources to " + std::to_string(std::ranges::size(dsts)) +
                  " destinations (each source has one destination): make the two equally long");
  }
  std::size_t size() const { return std::ranges::size(m_dsts); }

  static constexpr bool can_be_swept  = can_be_swept_v<std::ranges::range_value_t<Dsts const>,
                                                      std::ranges::range_value_t<Srcs const>>;
  static constexpr bool are_to_device = is_to_device_v<std::ranges::range_value_t<Dsts const>,
                                                       std::ranges::range_value_t<Srcs const>>;
  static constexpr bool are_slices    = false;

  /// Where the first pair begins, if there is one.
  std::pair<char*, char const*> first_ends() const {
    if (size() == 0) return {};
    return {reinterpret_cast<char*>(std::ranges::begin(m_dsts)->data()),
            reinterpret_cast<char const*>(std::ranges::begin(m_srcs)->data())};
  }
  /// Does the second pair begin where the first one ends? Then there will be more of them.
  bool begins_with_neighbours() const {
    if (size() < 2) return false;
    auto const dst = std::ranges::begin(m_dsts);
    auto const src = std::ranges::begin(m_srcs);
    return std::next(dst)->data() == dst->data() + dst->span() &&
           std::next(src)->data() == src->data() + src->span();
  }
  /// Adds all of them to PieceRows, a PieceSweep, a PieceComparison or a PieceRun; false if they are
  /// not for that.
  template <class Pieces>
  bool sweep(Pieces& pieces) const {
    return sweep_views(pieces, *this);
  }
  /// Is it the list of these pairs, if of other memory?
  bool are_of(PlainList const& list) const {
    auto const [dst, src] = first_ends();
    PieceComparison comparison(list.pieces, dst, src);
    return list.pieces.count == size() && sweep(comparison);
  }
  static KnownSlices known() { return {}; }

  /// Until `visit` returns false. \return whether it never did
  template <class Visit>
  bool all_of(Visit const& visit) const {
    auto src = std::ranges::begin(m_srcs);
    for (auto const& dst : m_dsts)
      if (!visit(dst, *src++)) return false;
    return true;
  }
  template <class Visit>
  void for_each(Visit const& visit) const {
    auto src            = std::ranges::begin(m_srcs);
    std::uint32_t index = 0;
    for (auto const& dst : m_dsts) visit(dst, *src++, index++);
  }
  std::string describe(std::uint32_t index) const {
    return describe_pair(*std::next(std::ranges::begin(m_dsts), index),
                         *std::next(std::ranges::begin(m_srcs), index));
  }
  int device() const {
    int device = -1;
    for_each([&](auto const& dst, auto const& src, std::uint32_t) {
      if (device < 0) device = device_of_pair(dst, src);
    });
    return device;
  }

 private:
  Dsts const& m_dsts;
  Srcs const& m_srcs;
};

/// Pairs of any types.
template <class... Copies>
class PairsOfArguments {
 public:
  explicit PairsOfArguments(Copies const&... copies) : m_copies(copies...) {}
  static constexpr bool can_be_swept = false;
  static constexpr bool are_slices   = false;
  static constexpr bool are_to_device =
      (is_to_device_v<decltype(Copies::dst), decltype(Copies::src)> && ...);
  static constexpr std::size_t size() { return sizeof...(Copies); }

  template <class Visit>
  void for_each(Visit const& visit) const {
    std::uint32_t index = 0;
    std::apply([&](auto const&... copy) { (visit(copy.dst, copy.src, index++), ...); }, m_copies);
  }
  std::string describe(std::uint32_t wanted) const {
    std::string text;
    for_each([&](auto const& dst, auto const& src, std::uint32_t index) {
      if (index == wanted) text = describe_pair(dst, src);
    });
    return text;
  }
  int device() const {
    int device = -1;
    for_each([&](auto const& dst, auto const& src, std::uint32_t) {
      if (device < 0) device = device_of_pair(dst, src);
    });
    return device;
  }

 private:
  std::tuple<Copies const&...> m_copies;
};

}  // namespace KokkosHostSpaces::Impl

#endif
