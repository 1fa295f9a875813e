// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Staging of pageable Views: bounded page-locked memory, which is there before anything is copied.

#include "../KokkosTest.hpp"

#include <KokkosHostSpaces/impl/copy/Staging.hpp>

namespace Staging {

using khs::Impl::StagedBox;
using Pageable = Kokkos::HostSpace;

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

TEST_CASE("staging memory is had before anything is copied, or not at all, and goes back",
          "[deep_copy]") {
  Kokkos::View<float*, Pageable> const from("from", 100000);
  khs::pool::trim(0);
  std::size_t const before = khs::pool::statistics().total.bytes_in_use;
  int calls                = 0;
  auto const count         = [&](StagedBox const&, auto const& staging) {
    ++calls;
    CHECK(reinterpret_cast<std::uintptr_t>(staging.data()) % 64 == 0);
  };
  khs::pool::set_limit(1);
  CHECK_THROWS_AS(khs::Impl::for_each_staged_box(from, true, count, 65536), khs::OutOfPinnedMemory);
  khs::pool::set_limit(0);
  CHECK(calls == 0);
  khs::Impl::for_each_staged_box(from, true, count, 65536);
  CHECK(calls > 1);
  CHECK(khs::pool::statistics().total.bytes_in_use == before);
}

// Calls `use(a, b)` with each pair of elements of two Views of any rank.
template <class A, class B, class Use>
void for_each_pair(A const& a, B const& b, Use const& use) {
  std::array<std::size_t, 8> index{};
  if (a.size() == 0) return;
  for (std::size_t r = 0; r != A::rank();) {
    std::size_t in_a = 0, in_b = 0;
    for (std::size_t k = 0; k < A::rank(); ++k) {
      in_a += index[k] * a.stride(k);
      in_b += index[k] * b.stride(k);
    }
    use(a.data()[in_a], b.data()[in_b]);
    for (r = 0; r < A::rank() && ++index[r] == a.extent(r); ++r) index[r] = 0;
  }
}

// By way of staging memory from `from` to `there`, and from `there` to `back`.
template <class From, class There, class Back>
void check_round_trip(From const& from, There const& there, Back const& back, std::size_t most) {
  INFO("boxes of " << most << " bytes");
  auto const assign = [](auto const& to, auto const& of) {
    for_each_pair(to, of, [](auto& a, auto const& b) { a = std::decay_t<decltype(a)>(b); });
  };
  auto const go = [&](StagedBox const& box, auto const& staging) {
    assign(staging, khs::Impl::part_of(from, box));
    assign(khs::Impl::part_of(there, box), staging);
  };
  khs::Impl::for_each_staged_box(from, true, go, most);
  auto const come = [&](StagedBox const& box, auto const& staging) {
    assign(staging, khs::Impl::part_of(there, box));
    assign(khs::Impl::part_of(back, box), staging);
  };
  khs::Impl::for_each_staged_box(back, false, come, most);
  int wrong = 0;
  for_each_pair(from, back, [&](auto const& a, auto const& b) { wrong += !(a == b); });
  CHECK(wrong == 0);
}

TEST_CASE("Views of rank 8, with static extents, traits and gaps are staged", "[deep_copy]") {
  using Data  = int** [3][2][2][1][3][2];
  using Const = int const** [3][2][2][1][3][2];
  Kokkos::View<Data, Kokkos::LayoutRight, Pageable> const from("from", 5, 4), back("back", 5, 4);
  Kokkos::View<Data, Kokkos::LayoutLeft, khs::MappedSpace> const there("there", 5, 4);
  for (std::size_t i = 0; i < from.span(); ++i) from.data()[i] = int(i + 1);
  using Traits = Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::RandomAccess | Kokkos::Restrict>;
  Kokkos::View<Const, Kokkos::LayoutRight, Pageable, Traits> const read(from.data(), 5, 4);

  std::vector<short> gaps(5000, 7), source(5000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = short(i % 1000 + 10);
  using Strided = Kokkos::View<short***, Kokkos::LayoutStride, Pageable>;
  Strided const repeats(source.data(), Kokkos::LayoutStride(9, 0, 10, 7, 6, 1)),
      with_gaps(gaps.data() + 100, Kokkos::LayoutStride(9, 501, 10, 29, 6, 3));
  Kokkos::View<long***, Kokkos::LayoutRight, khs::MappedSpace> const longs("longs", 9, 10, 6);

  for (std::size_t const most : {1UL, 100UL, 1000UL, 1000000UL}) {
    Kokkos::deep_copy(back, 0);
    check_round_trip(read, there, back, most);
    std::fill(gaps.begin(), gaps.end(), short(7));
    check_round_trip(repeats, longs, with_gaps, most);
    CHECK(std::count(gaps.begin(), gaps.end(), 7) == 5000 - 9 * 10 * 6);  // gaps are not written
  }
}

TEST_CASE("a box with gaps in three dimensions takes a call for each index of the shortest one",
          "[deep_copy]") {
  khs::Impl::PageableSide const side{
      .element_bytes = 8, .rank = 3, .extent = {40, 3, 50}, .stride = {1000, 110, 2}};
  auto const boxes = khs::Impl::cut_for_staging(side, 1 << 20);
  REQUIRE(boxes.size() == 1);
  CHECK(boxes[0].plan.engine_calls() == 3);
}

TEST_CASE("Views without an element are a box of nothing, and those of rank 0 a box of one element",
          "[deep_copy]") {
  Kokkos::View<double***, Kokkos::LayoutLeft, Pageable> const none("none", 3, 0, 5);
  Kokkos::View<double, Pageable> const one("one");
  for (bool const is_source : {true, false}) {
    khs::Impl::for_each_staged_box(none, is_source, [](StagedBox const& box, auto const& staging) {
      CHECK(box.plan.run_bytes == 0);
      CHECK(staging.size() == 0);
    });
    khs::Impl::for_each_staged_box(one, is_source, [](StagedBox const& box, auto const&) {
      CHECK(box.bytes == sizeof(double));
    });
  }
}

// Counts destructors.
struct Counted {
  static inline int ended = 0;
  int value               = 0;
  ~Counted() { ++ended; }
};

TEST_CASE("no destructor is called in staging memory, where nothing was constructed",
          "[deep_copy]") {
  static_assert(!std::is_trivially_destructible_v<Counted>);
  Kokkos::View<Counted*, Pageable> const from("from", 100);
  int const before = Counted::ended;
  int boxes        = 0;
  khs::Impl::for_each_staged_box(
      from, true, [&](StagedBox const&, auto const&) { ++boxes; }, 64);
  CHECK(boxes > 1);
  CHECK(Counted::ended == before);
}

}  // namespace Staging
