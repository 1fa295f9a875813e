// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Views with traits, elements and extents that are seldom, box by box.

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/impl/copy/StagedViews.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace StagedOddViews {

namespace khs = KokkosHostSpaces;
using khs::Impl::StagedBox;

using Left     = Kokkos::LayoutLeft;
using Right    = Kokkos::LayoutRight;
using Stride   = Kokkos::LayoutStride;
using Pageable = Kokkos::HostSpace;

// Element by element, since boxes may be of any rank.
template <class A, class B>
void assign(A const& to, B const& from) {
  std::array<std::size_t, 8> index{};
  std::size_t const rank = A::rank();
  for (std::size_t r = 0; r < rank; ++r)
    if (to.extent(r) == 0) return;
  while (true) {
    std::size_t there = 0, here = 0, r = 0;
    for (std::size_t k = 0; k < rank; ++k) {
      there += index[k] * to.stride(k);
      here += index[k] * from.stride(k);
    }
    to.data()[there] = typename A::value_type(from.data()[here]);
    for (; r < rank && ++index[r] == to.extent(r); ++r) index[r] = 0;
    if (r == rank) return;
  }
}

template <class From, class There, class Back>
void round_trip(From const& from, There const& there, Back const& back, std::size_t most) {
  auto const go = [&](StagedBox const& box, auto const& staging) {
    CHECK(reinterpret_cast<std::uintptr_t>(staging.data()) % 64 == 0);
    assign(staging, khs::Impl::part_of(from, box));
    assign(khs::Impl::part_of(there, box), staging);
  };
  khs::Impl::for_each_staged_box(from, true, go, most);
  auto const come = [&](StagedBox const& box, auto const& staging) {
    assign(staging, khs::Impl::part_of(there, box));
    assign(khs::Impl::part_of(back, box), staging);
  };
  khs::Impl::for_each_staged_box(back, false, come, most);
}

template <std::size_t Bytes>
struct Packed {
  std::array<std::uint32_t, Bytes / 4> words;
  bool operator==(Packed const&) const = default;
};

template <class Value>
int wrong_elements(std::size_t most) {
  Kokkos::View<Value**, Left, Pageable> const from("from", 37, 19), back("back", 37, 19);
  Kokkos::View<Value**, Right, khs::MappedSpace> const there("there", 37, 19);
  auto* const words = reinterpret_cast<std::uint32_t*>(from.data());
  for (std::size_t i = 0; i < from.span() * sizeof(Value) / 4; ++i) words[i] = std::uint32_t(i + 1);
  round_trip(from, there, back, most);
  int wrong = 0;
  for (std::size_t i = 0; i < 37; ++i)
    for (std::size_t j = 0; j < 19; ++j)
      wrong += !(there(i, j) == from(i, j)) || !(back(i, j) == from(i, j));
  return wrong;
}

TEST_CASE("elements of 12, 24 and 100 bytes are staged whole", "[deep_copy]") {
  for (std::size_t const most : {1UL, 100UL, 1000UL, 1000000UL}) {
    CHECK(wrong_elements<Packed<12>>(most) == 0);
    CHECK(wrong_elements<Packed<24>>(most) == 0);
    CHECK(wrong_elements<Packed<100>>(most) == 0);
    CHECK(wrong_elements<Kokkos::complex<double>>(most) == 0);
  }
}

TEST_CASE("Views of rank 8 with static extents, of const elements and with traits are staged",
          "[deep_copy]") {
  using Data  = int** [3][2][2][1][3][2];
  using Const = int const** [3][2][2][1][3][2];
  Kokkos::View<Data, Right, Pageable> const from("from", 5, 4), back("back", 5, 4);
  Kokkos::View<Data, Left, khs::MappedSpace> const there("there", 5, 4);
  for (std::size_t i = 0; i < from.span(); ++i) from.data()[i] = int(i + 1);
  using Traits = Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::RandomAccess | Kokkos::Restrict>;
  Kokkos::View<Const, Right, Pageable, Traits> const read(from.data(), 5, 4);
  using Atomic = Kokkos::MemoryTraits<Kokkos::Atomic>;
  Kokkos::View<Data, Right, Pageable, Atomic> const added(back);
  for (std::size_t const most : {1UL, 100UL, 1000UL, 1000000UL}) {
    Kokkos::deep_copy(there, 0);
    Kokkos::deep_copy(back, 0);
    round_trip(read, there, added, most);
    int wrong = 0;
    for (std::size_t i = 0; i < from.span(); ++i) wrong += back.data()[i] != from.data()[i];
    CHECK(wrong == 0);
    CHECK(there(4, 3, 2, 1, 1, 0, 2, 1) == from(4, 3, 2, 1, 1, 0, 2, 1));
    CHECK(there(1, 0, 2, 0, 1, 0, 0, 1) == from(1, 0, 2, 0, 1, 0, 0, 1));
  }
}

TEST_CASE("nothing beside the elements of a View with gaps is written", "[deep_copy]") {
  std::vector<short> memory(5000, 7), source(5000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = short(i % 1000 + 10);
  using Strided = Kokkos::View<short***, Stride, Pageable, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Stride const gaps(9, 501, 10, 29, 6, 3), read(9, 0, 10, 7, 6, 1);
  Kokkos::View<long***, Right, khs::MappedSpace> const there("there", 9, 10, 6);
  for (std::size_t const most : {1UL, 40UL, 300UL, 100000UL}) {
    std::fill(memory.begin(), memory.end(), short(7));
    // The source says the same in the first dimension again and again.
    round_trip(Strided(source.data(), read), there, Strided(memory.data() + 100, gaps), most);
    int wrong = 0, written = 0;
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t j = 0; j < 10; ++j)
        for (std::size_t k = 0; k < 6; ++k) {
          short& element = memory[100 + i * 501 + j * 29 + k * 3];
          wrong += element != source[j * 7 + k] || there(i, j, k) != element;
          element = 7;
        }
    for (short const s : memory) written += s != 7;
    CHECK(wrong == 0);
    CHECK(written == 0);
  }
}

TEST_CASE("Views without an element are a box of nothing", "[deep_copy]") {
  Kokkos::View<double***, Left, Pageable> const none("none", 3, 0, 5);
  for (bool const is_source : {true, false})
    khs::Impl::for_each_staged_box(none, is_source, [](StagedBox const& box, auto const& staging) {
      CHECK(box.bytes == 0);
      CHECK(box.plan.run_bytes == 0);
      CHECK(staging.size() == 0);
    });
}

// Counts those that are.
struct Counted {
  static inline int ended = 0;
  int value               = 0;
  Counted()               = default;
  Counted(int v) : value(v) {}
  Counted(Counted const&)            = default;
  Counted& operator=(Counted const&) = default;
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

}  // namespace StagedOddViews
