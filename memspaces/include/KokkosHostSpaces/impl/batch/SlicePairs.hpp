// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pairs that are slices of two Views: numbers, of which Views are made only for what asks for
// labels.

#ifndef KOKKOS_HOST_SPACES_IMPL_SLICE_PAIRS_HPP
#define KOKKOS_HOST_SPACES_IMPL_SLICE_PAIRS_HPP

#include <KokkosHostSpaces/impl/batch/CopyAll.hpp>
#include <KokkosHostSpaces/impl/batch/CopyPairs.hpp>
#include <KokkosHostSpaces/impl/batch/SliceSweep.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

template <class Dst, class Src>
class PairsOfSlices {
  static_assert(Dst::rank == 1 && Src::rank == 1 && is_dense_layout_v<Dst> &&
                    is_dense_layout_v<Src>,
                "slices are of Views of one dimension, in LayoutLeft or LayoutRight");
  static_assert(
      std::is_same_v<typename Dst::non_const_value_type, typename Src::non_const_value_type>,
      "slices are of Views of the same value type");
  static_assert(!std::is_const_v<typename Dst::value_type>,
                "slices are written to a View whose elements are not const");

 public:
  PairsOfSlices(Dst const& dst, Src const& src, std::span<Slice const> slices)
      : m_dst(dst),
        m_src(src),
        m_numbers{{reinterpret_cast<char*>(dst.data()), dst.extent(0)},
                  {reinterpret_cast<char const*>(src.data()), src.extent(0)},
                  sizeof(typename Dst::value_type),
                  slices} {
    check_types<Dst, Src>();
  }
  std::size_t size() const { return slices().size(); }
  ArraySlices const& numbers() const { return m_numbers; }

  static constexpr bool can_be_swept  = can_be_swept_v<Dst, Src>;
  static constexpr bool are_to_device = is_to_device_v<Dst, Src>;
  static constexpr bool are_slices    = true;

  /// nullptr if they lie in no View.
  std::pair<char*, char const*> first_ends() const {
    if (size() == 0 || !m_numbers.have_memory() || !m_numbers.has(slices()[0])) return {};
    CopyPiece const first = m_numbers.piece(0);
    return {first.dst, first.src};
  }
  template <class Pieces>
  bool sweep(Pieces& pieces) const {
    return m_numbers.sweep(pieces);
  }
  bool are_of(PlainList const& list) const { return list.slices.are(m_numbers); }
  KnownSlices known() const { return KnownSlices(m_numbers); }

  /// As pieces; see for_each_piece in CopyAll.hpp. \throw Error
  template <class Visit>
  void for_each_piece(Visit const& visit) const {
    for (std::size_t i = 0; i < size(); ++i) {
      check(i);
      if (slices()[i].count == 0 || !m_numbers.have_memory()) continue;
      CopyPiece piece = m_numbers.piece(i);
      piece.pageable =
          is_pageable_v<typename Dst::memory_space> || is_pageable_v<typename Src::memory_space>;
      if (piece.dst == piece.src) continue;
      if (piece.dst < piece.src + piece.bytes && piece.src < piece.dst + piece.bytes)
        throw Error("KokkosHostSpaces::deep_copy_all: copy " + describe(piece.pair) +
                    " writes what it reads (in no order): copy through a third View");
      visit(are_bytes_v<Dst, Src> ? std::optional(piece) : std::nullopt, has_device_v<Dst, Src>);
    }
  }
  /// As Views. \throw Error
  template <class Visit>
  void for_each(Visit const& visit) const {
    for (std::size_t i = 0; i < size(); ++i) {
      check(i);
      Slice const& slice = slices()[i];
      visit(part(m_dst, slice.dst, slice.count), part(m_src, slice.src, slice.count),
            std::uint32_t(i));
    }
  }
  std::string describe(std::uint32_t i) const {
    Slice const& slice = slices()[i];
    return "by slice " + std::to_string(i) + " of " + describe_side(m_dst, slice.dst, slice.count) +
           " <- " + describe_side(m_src, slice.src, slice.count) + ", " +
           std::to_string(slice.count * m_numbers.element) + " bytes,";
  }
  int device() const { return device_of_pair(m_dst, m_src); }

 private:
  std::span<Slice const> slices() const { return m_numbers.slices; }

  template <class View>
  static auto part(View const& view, std::size_t first, std::size_t count) {
    return Kokkos::subview(view, std::pair(first, first + count));
  }
  template <class View>
  static std::string describe_side(View const& view, std::size_t first, std::size_t count) {
    return std::to_string(count) + " elements from " + std::to_string(first) + " on of " +
           shape_of(view);
  }
  void check(std::size_t i) const {
    Slice const& slice = slices()[i];
    if (m_numbers.has(slice)) return;
    auto const refuse = [&](std::string const& side) {
      throw Error("KokkosHostSpaces::deep_copy_all: slice " + std::to_string(i) + ", " + side +
                  ", is not in it (offsets and counts are numbers of elements, and no slice goes "
                  "beyond its View): give what lies in both Views");
    };
    if (!ArraySlices::is_within(slice.dst, slice.count, m_numbers.dst.extent))
      refuse(describe_side(m_dst, slice.dst, slice.count));
    refuse(describe_side(m_src, slice.src, slice.count));
  }

  Dst const& m_dst;
  Src const& m_src;
  ArraySlices m_numbers;
};

/// Slices of Views, which may go.
template <class Dst, class Src>
struct KeptSlices {
  PairsOfSlices<Dst, Src> pairs() const { return {dst, src, slices}; }

  Dst dst;
  Src src;
  std::vector<Slice> slices;
};

}  // namespace KokkosHostSpaces::Impl

#endif
