// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_DEEP_COPY_ALL_HPP
#define KOKKOS_HOST_SPACES_DEEP_COPY_ALL_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/CopyAll.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>

namespace KokkosHostSpaces {

/// One copy of several, which may be of Views of other types. Made by copy_of.
template <class Dst, class Src>
struct CopyOf {
  Dst dst;  ///< written
  Src src;  ///< read
};

/// The copy of `src` to `dst`, for deep_copy_all.
template <class DT, class... DP, class ST, class... SP>
CopyOf<Kokkos::View<DT, DP...>, Kokkos::View<ST, SP...>> copy_of(
    Kokkos::View<DT, DP...> const& dst, Kokkos::View<ST, SP...> const& src) {
  return {dst, src};
}

namespace Impl {

template <class Range>
concept RangeOfViews = std::ranges::sized_range<Range const> &&
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

}  // namespace Impl

/// Copies each View of `srcs` to the one of `dsts` at the same place, as `Kokkos::deep_copy` with
/// `instance` does, in any order and as few calls as possible: neighbours on both sides are merged,
/// equal pieces at equal distances are one 2-D copy, and many short pieces one kernel, or one call
/// of the driver (`cudaMemcpyBatchAsync`, CUDA 12.8), but while the stream captures. Such as the
/// many small messages of an exchange of halos, which by single calls cost more than a microsecond
/// each.
///
/// On a Cuda instance enqueued, and not waited for, unless pageable memory is among it; on a host
/// instance after its work, and done on return. Copies that are not contiguous go one by one.
///
/// \param dsts, srcs std::vector, std::array, lists in braces, ... of Views of one type each
/// \throw Error before anything is enqueued: numbers or shapes differ, or a copy writes what another
///        one reads or writes (checked among contiguous copies)
template <class ExecutionSpace, Impl::RangeOfViews Dsts, Impl::RangeOfViews Srcs>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, Dsts const& dsts, Srcs const& srcs) {
  Impl::copy_all(instance, Impl::PairsOfRanges<Dsts, Srcs>(dsts, srcs));
}

/// The same for lists in braces.
template <class ExecutionSpace, class Dst, class Src>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, std::initializer_list<Dst> dsts,
                   std::initializer_list<Src> srcs) {
  Impl::copy_all(
      instance,
      Impl::PairsOfRanges<std::initializer_list<Dst>, std::initializer_list<Src>>(dsts, srcs));
}

/// The same for Views of several types: `deep_copy_all(instance, copy_of(a, b), copy_of(c, d))`.
template <class ExecutionSpace, class... Dst, class... Src>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, CopyOf<Dst, Src> const&... copies) {
  Impl::copy_all(instance, Impl::PairsOfArguments<CopyOf<Dst, Src>...>(copies...));
}

}  // namespace KokkosHostSpaces

#endif
