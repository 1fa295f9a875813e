// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The public functions of the pool, with and without a device.

#include "../KokkosTest.hpp"

#include <locale>

namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

khs::pool::SpaceUsage usage_of(std::string const& space) {
  auto const spaces = khs::pool::statistics().spaces;
  auto const found  = std::find_if(spaces.begin(), spaces.end(),
                                   [&](auto const& usage) { return usage.space == space; });
  return found != spaces.end() ? *found : khs::pool::SpaceUsage{};
}

}  // namespace

TEMPLATE_TEST_CASE("a View that is made again gets the same memory, and locks no new pages",
                   "[pool]", khs::PinnedSpace, khs::MappedSpace, khs::WriteCombinedSpace) {
  using View      = Kokkos::View<char*, TestType>;
  auto const make = [] {
    return View(Kokkos::view_alloc("view", Kokkos::WithoutInitializing), 32 * MiB);
  };
  auto const* first = make().data();
  Kokkos::fence();
  auto const before = khs::pool::statistics().total;
  CHECK(make().data() == first);
  auto const after = khs::pool::statistics().total;
  CHECK(after.misses == before.misses);
  CHECK(after.hits > before.hits);
  CHECK(after.bytes_locked == before.bytes_locked);
}

TEMPLATE_TEST_CASE(
    "statistics count the bytes of a space, and describe finds the allocation of a View", "[pool]",
    khs::PinnedSpace, khs::MappedSpace, khs::WriteCombinedSpace) {
  auto const before = usage_of(TestType::name());
  Kokkos::View<char*, TestType> const view("density", 3 * MiB);
  auto const during = usage_of(TestType::name());
  CHECK(during.blocks == before.blocks + 1);
  CHECK(during.bytes_asked == before.bytes_asked + 3 * MiB + 128);

  auto const description = khs::pool::describe(view);
  REQUIRE(description.has_value());
  CHECK(description->label == "density");
  CHECK(description->space == TestType::name());
  CHECK(description->bytes == 3 * MiB + 128);
  CHECK(description->state == khs::pool::State::in_use);
  int on_the_stack = 0;
  CHECK_FALSE(khs::pool::describe(static_cast<void const*>(&on_the_stack)).has_value());
}

TEST_CASE("statistics are printed as a table", "[pool]") {
  Kokkos::View<char*, khs::PinnedSpace> const view("view", MiB);
  auto const statistics = khs::pool::statistics();
  CHECK_THAT(khs::pool::to_text(statistics),
             ContainsSubstring("total") && ContainsSubstring("Pinned") &&
                 ContainsSubstring("registered segments: " +
                                   std::to_string(statistics.registered_segments)));
}

TEST_CASE("statistics are printed alike under any locale of the program", "[pool]") {
  struct Grouping : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    char do_decimal_point() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  Kokkos::View<char*, khs::PinnedSpace> const view("view", MiB);
  auto statistics            = khs::pool::statistics();
  statistics.total.segments  = 1234567;
  std::string const text     = khs::pool::to_text(statistics);
  std::locale const of_tests = std::locale::global({std::locale::classic(), new Grouping});
  CHECK(khs::pool::to_text(statistics) == text);
  std::locale::global(of_tests);
}

TEST_CASE("a View that is retired on an instance is gone, but not other Views of its memory",
          "[pool]") {
  Kokkos::View<int*, khs::PinnedSpace> view("view", 1000);
  auto part = Kokkos::subview(view, std::pair(10, 20));
  part(3)   = 7;
  khs::pool::retire_on(Kokkos::DefaultExecutionSpace(), std::move(view));
  CHECK(view.data() == nullptr);
  CHECK(khs::pool::describe(part)->state == khs::pool::State::in_use);
  CHECK(part(3) == 7);
  void const* const memory = part.data();
  khs::pool::retire_on(Kokkos::DefaultHostExecutionSpace(), std::move(part));
  auto const description = khs::pool::describe(memory);
  CHECK((!description || description->state != khs::pool::State::in_use));
  Kokkos::View<int, Kokkos::LayoutLeft, khs::MappedSpace> none;
  khs::pool::retire_on(Kokkos::DefaultExecutionSpace(), std::move(none));
}

TEST_CASE("trim gives cached memory back, and reserve locks some beforehand", "[pool]") {
  Kokkos::fence();
  khs::pool::trim(0);
  auto const reservation = khs::pool::reserve(64 * MiB, khs::PinnedSpace(), 32 * MiB);
  CHECK(reservation.bytes_asked() == 64 * MiB);
  reservation.wait();
  CHECK(reservation.finished());
  CHECK(reservation.bytes_done() == 64 * MiB);
  auto const before = khs::pool::statistics().total;
  CHECK(before.bytes_cached >= 64 * MiB);
  {
    Kokkos::View<char*, khs::PinnedSpace> const view(
        Kokkos::view_alloc("view", Kokkos::WithoutInitializing), 30 * MiB);
    CHECK(khs::pool::statistics().total.misses == before.misses);
  }
  Kokkos::fence();
  CHECK(khs::pool::trim(0) >= 32 * MiB);
}

TEST_CASE("beyond the limit an allocation says what is in use, and a smaller one works", "[pool]") {
  Kokkos::fence();
  khs::pool::trim(0);
  std::size_t const limit = khs::pool::statistics().total.bytes_locked + 64 * MiB;
  khs::pool::set_limit(limit);
  using View = Kokkos::View<char*, khs::MappedSpace>;
  CHECK_THROWS_WITH(View(Kokkos::view_alloc("too much", Kokkos::WithoutInitializing), 100 * MiB),
                    ContainsSubstring("too much") && ContainsSubstring("Mapped") &&
                        ContainsSubstring(std::to_string(limit)) &&
                        ContainsSubstring("khs::pool::set_limit"));
  CHECK_NOTHROW(View(Kokkos::view_alloc("less", Kokkos::WithoutInitializing), 10 * MiB));
  khs::pool::set_limit(0);
  CHECK_NOTHROW(View(Kokkos::view_alloc("again", Kokkos::WithoutInitializing), 100 * MiB));
}
