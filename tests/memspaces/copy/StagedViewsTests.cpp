// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/impl/copy/StagedViews.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>

namespace StagedViews {

namespace khs = KokkosHostSpaces;
using khs::Impl::StagedBox;

using Left     = Kokkos::LayoutLeft;
using Right    = Kokkos::LayoutRight;
using Pageable = Kokkos::HostSpace;

std::size_t elements(StagedBox const& box, std::size_t rank) {
  std::size_t count = 1;
  for (std::size_t r = 0; r < rank; ++r) count *= box.extent[r];
  return count;
}

// There and back as by way of a device, but for the plan between staging memory and the pageable
// side: the host copies.
template <class View, class Other>
void round_trip(View const& from, Other const& there, View const& back, std::size_t most) {
  Kokkos::DefaultHostExecutionSpace const host;
  std::size_t visited = 0;
  auto const go       = [&](StagedBox const& box, auto const& staging) {
    CHECK(box.bytes <= most);
    CHECK(staging.span() * sizeof(typename View::value_type) == box.bytes);
    visited += elements(box, View::rank());
    Kokkos::deep_copy(host, staging, khs::Impl::part_of(from, box));
    Kokkos::deep_copy(host, khs::Impl::part_of(there, box), staging);
  };
  khs::Impl::for_each_staged_box(from, true, go, most);
  CHECK(visited == from.size());
  auto const come = [&](StagedBox const& box, auto const& staging) {
    Kokkos::deep_copy(host, staging, khs::Impl::part_of(there, box));
    Kokkos::deep_copy(host, khs::Impl::part_of(back, box), staging);
  };
  khs::Impl::for_each_staged_box(back, false, come, most);
}

TEST_CASE("Views of other types and layouts go through staging memory box by box", "[deep_copy]") {
  Kokkos::View<float**[3], Left, Pageable> const from("from", 40, 50), back("back", 40, 50);
  Kokkos::View<double***, Right, khs::MappedSpace> const there("there", 40, 50, 3);
  int n = 0;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 50; ++j)
      for (int k = 0; k < 3; ++k) from(i, j, k) = float(++n);
  for (std::size_t const most : {16UL, 1000UL, 7777UL, 1000000UL}) {
    Kokkos::deep_copy(there, 0.0);
    Kokkos::deep_copy(back, 0.0F);
    round_trip(from, there, back, most);
    int wrong = 0;
    for (int i = 0; i < 40; ++i)
      for (int j = 0; j < 50; ++j)
        for (int k = 0; k < 3; ++k)
          wrong += there(i, j, k) != double(from(i, j, k)) || back(i, j, k) != from(i, j, k);
    CHECK(wrong == 0);
  }
}

TEST_CASE("subviews with gaps, and Views of rank 0, are staged", "[deep_copy]") {
  Kokkos::View<int**, Right, Pageable> const all("all", 100, 10), again("again", 100, 10);
  Kokkos::View<long*, khs::MappedSpace> const there("there", 100);
  for (int i = 0; i < 100; ++i) all(i, 4) = i;
  round_trip(Kokkos::subview(all, Kokkos::ALL, 4), there, Kokkos::subview(again, Kokkos::ALL, 4),
             64);
  int wrong = 0;
  for (int i = 0; i < 100; ++i) wrong += there(i) != i || again(i, 4) != i || again(i, 5) != 0;
  CHECK(wrong == 0);

  Kokkos::View<float, Pageable> const one("one"), same("same");
  Kokkos::View<double, khs::MappedSpace> const wide("wide");
  one() = 3;
  round_trip(one, wide, same, 64);
  CHECK(wide() == 3.0);
  CHECK(same() == 3.0F);
}

TEST_CASE("64 MiB of page-locked memory are enough for any copy", "[deep_copy]") {
  constexpr std::size_t MiB = std::size_t(1) << 20;
  Kokkos::View<float*, Pageable> const from(Kokkos::view_alloc("from", Kokkos::WithoutInitializing),
                                            50 * MiB);
  khs::pool::trim(0);
  khs::pool::set_limit(khs::pool::statistics().total.bytes_locked + 64 * MiB);
  std::size_t boxes = 0;
  CHECK_NOTHROW(
      khs::Impl::for_each_staged_box(from, true, [&](auto const&, auto const&) { ++boxes; }));
  khs::pool::set_limit(0);
  CHECK(boxes > 1);
}

TEST_CASE("staging memory is had before anything is copied, or not at all", "[deep_copy]") {
  Kokkos::View<float*, Pageable> const from("from", 100000);
  khs::pool::trim(0);
  khs::pool::set_limit(1);
  int calls        = 0;
  auto const count = [&](auto const&, auto const&) { ++calls; };
  CHECK_THROWS_AS(khs::Impl::for_each_staged_box(from, true, count, 65536), khs::OutOfPinnedMemory);
  khs::pool::set_limit(0);
  CHECK(calls == 0);
}

}  // namespace StagedViews
