// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many copies of Views as one batch, in its two forms: pairs of Views, and slices of two Views. Pairs that
// are contiguous on both sides become pieces; deep_copy copies each other pair.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_ALL_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_ALL_HPP

#include <KokkosHostSpaces/impl/batch/BatchKernels.hpp>
#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/Slice.hpp>
#include <KokkosHostSpaces/impl/batch/PieceTable.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

// --- the forms of a batch ---

template <class T>
inline constexpr bool is_pair_of_views_v = false;
template <class Dst, class Src>
inline constexpr bool is_pair_of_views_v<std::pair<Dst, Src>> =
    Kokkos::is_view_v<Dst>&& Kokkos::is_view_v<Src>;

template <class Range>
concept RangeOfPairs =
    std::ranges::sized_range<Range const> && std::ranges::forward_range<Range const> &&
    is_pair_of_views_v<std::ranges::range_value_t<Range const>>;

template <class... What>
inline constexpr bool are_slices_v = false;
template <class Dst, class Src, class Slices>
inline constexpr bool are_slices_v<Dst, Src, Slices> = Kokkos::is_view_v<Dst>&&
    Kokkos::is_view_v<Src>&& std::convertible_to<Slices const&, std::span<Slice const>>;

/// The arguments of a batch: one range of pairs, or several pairs, or two Views and a list of slices.
template <class... What>
concept Batch = sizeof...(What) > 0 &&
                ((is_pair_of_views_v<What> && ...) ||
                 (sizeof...(What) == 1 && (RangeOfPairs<What> && ...)) || are_slices_v<What...>);

/// PreparedCopies.
template <class T>
concept Prepared = requires(T const& copies, typename T::execution_space const& instance) {
  copies.batch()->enqueue(instance);
};

// --- one pair ---

/// Properties of a pair that follow from its types.
template <class DstView, class SrcView>
struct PairTypes {
  using Dst      = DstView;
  using Src      = SrcView;
  using DstSpace = typename Dst::memory_space;
  using SrcSpace = typename Src::memory_space;

  static constexpr bool are_bytes =
      PlainView<Dst> && PlainView<Src> &&
      std::is_same_v<typename Dst::value_type, typename Src::non_const_value_type> &&
      is_known_space_v<DstSpace> && is_known_space_v<SrcSpace>;

  /// At least one side is on a device. Other pairs are copied by the host or by a kernel.
  static constexpr bool has_device = is_used_by_device_v<DstSpace> || is_used_by_device_v<SrcSpace>;
  static constexpr bool has_pageable = is_pageable_v<DstSpace> || is_pageable_v<SrcSpace>;

  /// The copy goes from page-locked memory to a device.
  static constexpr bool is_to_device =
      is_device_only_v<DstSpace> && !is_used_by_device_v<SrcSpace> && !is_pageable_v<SrcSpace>;

  /// If both Views are without gaps, their elements have the same order.
  static constexpr bool is_one_order =
      Dst::rank() <= 1 || (std::is_same_v<typename Dst::array_layout, typename Src::array_layout> &&
                           !std::is_same_v<typename Dst::array_layout, Kokkos::LayoutStride>);
};

/// A pair of whole Views. This and SlicedPair have the same functions.
template <class DstView, class SrcView>
struct WholePair : PairTypes<DstView, SrcView> {
  DstView const& dst;
  SrcView const& src;

  WholePair(DstView const& of_dst, SrcView const& of_src) : dst(of_dst), src(of_src) {
    check_types<DstView, SrcView>();
  }

  /// Returns whether there is something to copy. \throw Error
  bool check(std::size_t) const { return check_views(dst, src); }

  /// Returns the pair as one piece; nothing if it is not contiguous on both sides in the same order.
  std::optional<Piece> piece() const {
    if constexpr (WholePair::are_bytes) {
      auto const of = [this](std::size_t bytes) {
        return Piece{reinterpret_cast<char*>(dst.data()), reinterpret_cast<char const*>(src.data()),
                     bytes};
      };
      if (WholePair::is_one_order && dst.span_is_contiguous() && src.span_is_contiguous())
        return of(dst.span() * sizeof(typename DstView::value_type));  // quicker than a plan
      if (CopyPlan const plan = plan_for(dst, src); plan.contiguous()) return of(plan.run_bytes);
    }
    return std::nullopt;
  }

  /// Calls use(dst, src) with Views.
  template <class Use>
  void with_views(Use const& use) const {
    use(dst, src);
  }

  /// Returns a device whose memory takes part; -1 if there is none.
  int device() const { return WholePair::has_device ? device_of(dst.data(), src.data()) : -1; }

  std::string describe(std::size_t) const {
    return shape_of(dst) + " <- " + shape_of(src) + " of ";
  }
};

template <class View>
inline constexpr bool can_be_sliced_v =
    View::rank == 1 && (std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft> ||
                        std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>);

/// A slice of two Views of one dimension. Subviews are made only for with_views.
template <class DstView, class SrcView>
struct SlicedPair : PairTypes<DstView, SrcView> {
  static_assert(can_be_sliced_v<DstView> && can_be_sliced_v<SrcView>,
                "slices are of Views of one dimension, in LayoutLeft or LayoutRight");
  static_assert(std::is_same_v<typename DstView::non_const_value_type,
                               typename SrcView::non_const_value_type>,
                "slices are of Views of the same value type");
  static_assert(!std::is_const_v<typename DstView::value_type>,
                "slices are written to a View whose elements are not const");

  DstView const& dst;
  SrcView const& src;
  Slice const& slice;

  SlicedPair(DstView const& of_dst, SrcView const& of_src, Slice const& of_both)
      : dst(of_dst), src(of_src), slice(of_both) {}

  /// \throw Error
  bool check(std::size_t index) const {
    bool const is_in_dst = is_within(slice.dst, dst.extent(0));
    if (!is_in_dst || !is_within(slice.src, src.extent(0))) refuse_slice(index, is_in_dst);
    Piece const piece = bytes_of();
    if (piece.bytes == 0 || dst.data() == nullptr || src.data() == nullptr) return false;
    if (piece.dst == piece.src) return false;
    if (piece.dst < piece.src + piece.bytes && piece.src < piece.dst + piece.bytes)
      refuse_overlap(index);
    return true;
  }
  std::optional<Piece> piece() const {
    if constexpr (SlicedPair::are_bytes) return bytes_of();
    return std::nullopt;
  }
  template <class Use>
  void with_views(Use const& use) const {
    use(Kokkos::subview(dst, std::pair(slice.dst, slice.dst + slice.count)),
        Kokkos::subview(src, std::pair(slice.src, slice.src + slice.count)));
  }
  int device() const { return SlicedPair::has_device ? device_of(dst.data(), src.data()) : -1; }

  std::string describe(std::size_t index) const {
    return "by slice " + std::to_string(index) + " of " + describe_side(dst, slice.dst) + " <- " +
           describe_side(src, slice.src) + ", ";
  }

 private:
  static constexpr std::size_t element = sizeof(typename DstView::value_type);

  Piece bytes_of() const {
    return {reinterpret_cast<char*>(dst.data()) + slice.dst * element,
            reinterpret_cast<char const*>(src.data()) + slice.src * element, slice.count * element};
  }
  bool is_within(std::size_t first, std::size_t extent) const {
    return slice.count <= extent && first <= extent - slice.count;
  }
  template <class View>
  std::string describe_side(View const& view, std::size_t first) const {
    return std::to_string(slice.count) + " elements from " + std::to_string(first) + " on of " +
           shape_of(view);
  }
  [[noreturn]] void refuse_overlap(std::size_t index) const {
    throw Error("KokkosHostSpaces::deep_copy_all: copy " + describe(index) +
                std::to_string(slice.count * element) +
                " bytes writes what it reads (in no order): copy through a third View");
  }
  [[noreturn]] void refuse_slice(std::size_t index, bool is_in_dst) const {
    throw Error("KokkosHostSpaces::deep_copy_all: slice " + std::to_string(index) + ", " +
                (is_in_dst ? describe_side(src, slice.src) : describe_side(dst, slice.dst)) +
                ", is not in it (offsets and counts are numbers of elements, and no slice goes "
                "beyond its View): give what lies in both Views");
  }
};

// --- all pairs ---

/// The pairs of a batch, by reference to its arguments.
template <class... What>
class Pairs {
 public:
  explicit Pairs(What const&... what) : m_what(what...) {}

  std::size_t size() const {
    if constexpr (are_slices_v<What...>)
      return slices().size();
    else if constexpr ((is_pair_of_views_v<What> && ...))
      return sizeof...(What);
    else
      return std::ranges::size(std::get<0>(m_what));
  }

  /// Calls visit(index, pair) for each WholePair or SlicedPair.
  template <class Visit>
  void for_each(Visit const& visit) const {
    std::size_t index = 0;
    if constexpr (are_slices_v<What...>) {
      for (Slice const& slice : slices())
        visit(index++, SlicedPair(std::get<0>(m_what), std::get<1>(m_what), slice));
    } else if constexpr ((is_pair_of_views_v<What> && ...)) {
      std::apply(
          [&](auto const&... pair) { (visit(index++, WholePair(pair.first, pair.second)), ...); },
          m_what);
    } else {
      for (auto const& pair : std::get<0>(m_what))
        visit(index++, WholePair(pair.first, pair.second));
    }
  }

  /// Returns a device whose memory takes part; -1 if there is none.
  int device() const {
    int device = -1;
    for_each([&](std::size_t, auto const& pair) {
      if (device < 0) device = pair.device();
    });
    return device;
  }

  /// Describes the first pair for which is_it(piece, index) holds; nothing if there is none.
  template <class IsIt>
  std::optional<std::string> describe_first(IsIt const& is_it) const {
    std::optional<std::string> text;
    for_each([&](std::size_t index, auto const& pair) {
      auto const piece = pair.piece();
      if (!text && piece && is_it(*piece, index))
        text = pair.describe(index) + std::to_string(piece->bytes) + " bytes";
    });
    return text;
  }

 private:
  std::span<Slice const> slices() const { return std::get<2>(m_what); }

  std::tuple<What const&...> m_what;
};

/// Returns what a prepared batch keeps of an argument: the caller may destroy ranges and lists.
template <class What>
auto kept(What const& what) {
  if constexpr (Kokkos::is_view_v<What> || is_pair_of_views_v<What>)
    return what;
  else if constexpr (RangeOfPairs<What>)
    return std::vector<std::ranges::range_value_t<What const>>(std::ranges::begin(what),
                                                               std::ranges::end(what));
  else {
    std::span<Slice const> const slices = what;
    return std::vector<Slice>(slices.begin(), slices.end());
  }
}

// --- copying them ---

struct CheckedPairs {
  BatchTables tables;
  bool has_others   = false;  ///< some pairs are in no table, or on the host alone
  bool is_to_device = true;   ///< all copies go from page-locked memory to a device
};

/// Checks each pair by itself, and makes the tables.
/// \throw Error if the sides of a pair differ in shape or overlap
template <class Pairs>
CheckedPairs collect_pieces(Pairs const& pairs) {
  CheckedPairs checked;
  BatchTables& tables = checked.tables;
  tables.reached.reserve(pairs.size());
  pairs.for_each([&]<class Pair>(std::size_t index, Pair const& pair) {
    checked.is_to_device &= Pair::is_to_device;
    if (!pair.check(index)) return;
    auto const piece = pair.piece();
    if (piece && piece->dst == piece->src) return;
    if (!piece || !Pair::has_device) checked.has_others = true;
    if (!piece) return;
    if constexpr (!Pair::has_device)
      tables.on_host.add(*piece);
    else if constexpr (Pair::has_pageable)
      tables.pageable.add(*piece);
    else
      tables.reached.add(*piece);
  });
  return checked;
}

template <class Pairs>
[[noreturn]] void refuse_conflict(Pairs const& pairs, char const* byte) {
  auto const holds = [byte](Piece const& piece, char const* side) {
    return piece.dst != piece.src && side <= byte && byte < side + piece.bytes;
  };
  std::size_t writer_index = 0;
  auto const writer        = pairs.describe_first([&](Piece const& piece, std::size_t index) {
    writer_index = index;
    return holds(piece, piece.dst);
  });
  auto const other         = pairs.describe_first([&](Piece const& piece, std::size_t index) {
    return index != writer_index && (holds(piece, piece.dst) || holds(piece, piece.src));
  });
  if (!other)
    throw Error("KokkosHostSpaces::deep_copy_all: copy " + writer.value_or("?") +
                " writes what it reads (in no order): copy through a third View");
  throw Error("KokkosHostSpaces::deep_copy_all: copy " + writer.value_or("?") +
              " writes what copy " + *other +
              " reads or writes (all copies of one call go at the same time): make two calls");
}

/// \throw Error if a pair writes what another one reads or writes
template <class Pairs>
BatchPlan plan_pairs(Pairs const& pairs, BatchTables&& tables, BatchRules const& rules) {
  BatchPlan plan = plan_batch(std::move(tables), rules);
  if (plan.conflict != nullptr) refuse_conflict(pairs, plan.conflict);
  return plan;
}

/// Copies the pairs that are not in the batch, each by deep_copy.
template <class ExecutionSpace, class Pairs>
void copy_others(ExecutionSpace const& instance, Pairs const& pairs) {
  pairs.for_each([&]<class Pair>(std::size_t, Pair const& pair) {
    if (drives_device && Pair::has_device && pair.piece()) return;
    pair.with_views(
        [&](auto const& dst, auto const& src) { Kokkos::deep_copy(instance, dst, src); });
  });
}

template <class Pairs, class Use>
void for_each_of_batch(Pairs const& pairs, Use const& use) {
  pairs.for_each([&]<class Pair>(std::size_t, Pair const& pair) {
    if constexpr (Pair::has_device)
      if (auto const piece = pair.piece()) use(pair, *piece);
  });
}

/// Calls enqueue(), and reports each pair to Kokkos Tools and the race guard. Copies pair by pair
/// if enqueue() returns false, since the driver refused merged pieces.
template <class Pairs, class Enqueue>
void enqueue_batch(DrivenDevice const& instance, Pairs const& pairs, Enqueue const& enqueue) {
  auto* const stream = stream_of(instance);
  if (tools_see_copies())
    for_each_of_batch(pairs, [](auto const& pair, Piece const&) {
      pair.with_views(
          [](auto const& dst, auto const& src) { DeepCopyEvent const event(dst, src); });
    });
  if (!enqueue())
    for_each_of_batch(pairs, [&](auto const&, Piece const& piece) {
      copy_async(piece.dst, piece.src, piece.bytes, stream);
    });
  if (guards_copies())
    for_each_of_batch(pairs, [&](auto const& pair, Piece const&) {
      pair.with_views([&](auto const& dst, auto const& src) {
        guard_copy(side_of(dst), side_of(src), stream);
      });
    });
}

template <class Pairs>
BatchPlan plan_pairs_on(DrivenDevice const& instance, Pairs const& pairs, CheckedPairs&& checked) {
  BatchRules const rules =
      rules_for(checked.tables, checked.is_to_device, stream_of(instance), device_id_of(instance));
  return plan_pairs(pairs, std::move(checked.tables), rules);
}

template <class Pairs>
void copy_all(DrivenDevice const& instance, Pairs const& pairs) {
  ScopedDevice const on_device(stream_of(instance), device_id_of(instance));
  CheckedPairs checked = collect_pieces(pairs);
  BatchPlan const plan = plan_pairs_on(instance, pairs, std::move(checked));
  if (checked.has_others || tools_see_copies()) copy_others(instance, pairs);
  enqueue_batch(instance, pairs, [&] { return enqueue_plan(instance, plan); });
}

// Enqueues the batch on a private instance, and waits for it.
template <class Pairs>
void copy_batch_and_wait(Pairs const& pairs, CheckedPairs&& checked) {
  DrivenDevice const own = private_instance(pairs.device());
  BatchPlan const plan   = plan_pairs_on(own, pairs, std::move(checked));
  enqueue_batch(own, pairs, [&] { return enqueue_plan(own, plan); });
  fence(stream_of(own));
}

/// On a host instance; the copies are done on return.
template <class ExecutionSpace, class Pairs>
void copy_all(ExecutionSpace const& instance, Pairs const& pairs) {
  CheckedPairs checked = collect_pieces(pairs);
  if constexpr (drives_device) {
    instance.fence("KokkosHostSpaces::deep_copy_all: fence of the host instance before the copies");
    if (checked.tables.need_device()) {
      copy_batch_and_wait(pairs, std::move(checked));
      return copy_others(instance, pairs);
    }
  }
  plan_pairs(pairs, std::move(checked.tables), {});
  copy_others(instance, pairs);
}

}  // namespace KokkosHostSpaces::Impl

#endif
