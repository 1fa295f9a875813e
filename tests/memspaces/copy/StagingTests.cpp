// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Staging of pageable Views: bounded page-locked memory, which is there before anything is copied.

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/impl/copy/Staging.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace Staging {

namespace khs = KokkosHostSpaces;
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

TEST_CASE("a source that repeats is staged once, by one call", "[deep_copy]") {
  double const value[] = {1, 2, 3};
  Kokkos::View<double const**, Kokkos::LayoutStride, Pageable> const rows(
      value, Kokkos::LayoutStride(1000000, 0, 3, 1));
  int boxes = 0;
  khs::Impl::for_each_staged_box(rows, true, [&](StagedBox const& box, auto const& staging) {
    ++boxes;
    CHECK(box.bytes == sizeof value);
    CHECK(box.plan.contiguous());
    CHECK(staging.extent(0) == 1000000);
  });
  CHECK(boxes == 1);
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
