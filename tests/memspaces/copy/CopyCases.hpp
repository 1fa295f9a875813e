// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Fills and checks Views wherever their memory is, and copies between sub-views of all shapes.

#ifndef KOKKOS_HOST_SPACES_TESTS_COPY_CASES_HPP
#define KOKKOS_HOST_SPACES_TESTS_COPY_CASES_HPP

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <utility>

namespace CopyCases {

namespace khs = KokkosHostSpaces;

template <class Space>
inline constexpr bool host_reaches =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, Space>::accessible;

// An execution space that reaches the memory of the View.
template <class View>
using Worker = std::conditional_t<host_reaches<typename View::memory_space>,
                                  Kokkos::DefaultHostExecutionSpace, Kokkos::DefaultExecutionSpace>;

/// The value that belongs at an index.
KOKKOS_INLINE_FUNCTION double value_at(std::size_t i, std::size_t j, std::size_t k) {
  return double(1 + i + 100 * j + 10000 * k);
}

/// Rank-3 box of indices inside a parent array.
struct Box {
  std::size_t begin[3], end[3];
  KOKKOS_INLINE_FUNCTION bool contains(std::size_t i, std::size_t j, std::size_t k) const {
    return i >= begin[0] && i < end[0] && j >= begin[1] && j < end[1] && k >= begin[2] &&
           k < end[2];
  }
};

template <class View>
struct Fill {
  View view;
  bool blank;
  KOKKOS_INLINE_FUNCTION void operator()(std::size_t n) const {
    std::size_t const i = n % view.extent(0), j = n / view.extent(0) % view.extent(1),
                      k = n / view.extent(0) / view.extent(1);
    view(i, j, k)       = blank ? -1. : value_at(i, j, k);
  }
};

// Inside `dst_box` the value of the matching element of `src_box`, outside still blank.
template <class View>
struct CountWrong {
  View view;
  Box dst_box, src_box;
  KOKKOS_INLINE_FUNCTION void operator()(std::size_t n, int& wrong) const {
    std::size_t const i = n % view.extent(0), j = n / view.extent(0) % view.extent(1),
                      k   = n / view.extent(0) / view.extent(1);
    double const expected = dst_box.contains(i, j, k)
                                ? value_at(i - dst_box.begin[0] + src_box.begin[0],
                                           j - dst_box.begin[1] + src_box.begin[1],
                                           k - dst_box.begin[2] + src_box.begin[2])
                                : -1.;
    if (double(view(i, j, k)) != expected) ++wrong;
  }
};

template <class View>
void fill(View const& view, bool blank) {
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Worker<View>>(0, view.size()),
                       Fill<View>{view, blank});
  Kokkos::fence();
}

template <class View>
int count_wrong(View const& view, Box const& dst_box, Box const& src_box) {
  int wrong = 0;
  Kokkos::parallel_reduce("count_wrong", Kokkos::RangePolicy<Worker<View>>(0, view.size()),
                          CountWrong<View>{view, dst_box, src_box}, wrong);
  return wrong;
}

template <class View>
auto box_of(View const& parent, Box const& box) {
  using Range = std::pair<std::size_t, std::size_t>;
  return Kokkos::subview(parent, Range(box.begin[0], box.end[0]), Range(box.begin[1], box.end[1]),
                         Range(box.begin[2], box.end[2]));
}

/// Calls `copy(dst, src)` for full and partial Views of two layouts and checks every element.
template <class DstSpace, class SrcSpace, class DstLayout, class SrcLayout, class Copy>
void check_copies(Copy const& copy, std::size_t scale = 1) {
  INFO(DstSpace::name() << " <- " << SrcSpace::name());
  std::size_t const n[3] = {13 * scale, 11, 7};
  Kokkos::View<double***, DstLayout, DstSpace> const dst("dst", n[0], n[1], n[2]);
  Kokkos::View<double***, SrcLayout, SrcSpace> const src("src", n[0], n[1], n[2]);
  fill(src, false);
  Box const whole{{0, 0, 0}, {n[0], n[1], n[2]}};
  Box const inner{{1, 2, 1}, {n[0] - 3, 9, 5}};
  Box const shifted{{3, 1, 2}, {n[0] - 1, 8, 6}};
  Box const planes{{0, 3, 0}, {n[0], 7, n[2]}};

  fill(dst, true);
  copy(dst, src);
  CHECK(count_wrong(dst, whole, whole) == 0);
  for (auto const& [to, from] :
       {std::pair(inner, inner), std::pair(shifted, inner), std::pair(planes, planes)}) {
    fill(dst, true);
    copy(box_of(dst, to), box_of(src, from));
    CHECK(count_wrong(dst, to, from) == 0);
  }
}

// The ways to call deep_copy.
inline constexpr auto on_device = [](auto const& dst, auto const& src) {
  Kokkos::DefaultExecutionSpace const instance;
  Kokkos::deep_copy(instance, dst, src);
  instance.fence();
};
inline constexpr auto on_host = [](auto const& dst, auto const& src) {
  Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), dst, src);  // done on return
};
inline constexpr auto blocking = [](auto const& dst, auto const& src) {
  Kokkos::deep_copy(dst, src);
};

}  // namespace CopyCases

#endif
