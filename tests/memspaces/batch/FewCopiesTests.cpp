// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Few copies by one call of the driver: what is told to be plain has nothing to refuse or to merge.

#include <KokkosHostSpaces/impl/batch/FewCopies.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace FewCopiesTests {

using KokkosHostSpaces::Impl::FewCopies;

// Nobody looks into the memory.
struct Piece {
  std::uintptr_t dst, src;
  std::size_t bytes;
};
constexpr std::uintptr_t there = std::uintptr_t(1) << 40, here = std::uintptr_t(1) << 41;
constexpr std::size_t regular_pieces = 4;

bool add(FewCopies& copies, Piece const& piece) {
  return copies.add(reinterpret_cast<char*>(piece.dst), reinterpret_cast<char const*>(piece.src),
                    piece.bytes);
}

bool are_plain(std::vector<Piece> const& pieces) {
  FewCopies copies;
  for (Piece const& piece : pieces)
    if (!add(copies, piece)) return false;
  return copies.are_plain(regular_pieces);
}

bool meet(std::uintptr_t a, std::size_t a_bytes, std::uintptr_t b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

// As slowly as can be.
bool depend_on_each_other(std::vector<Piece> const& pieces) {
  for (Piece const& a : pieces)
    for (Piece const& b : pieces) {
      if (meet(a.dst, a.bytes, b.src, b.bytes)) return true;
      if (&a != &b && meet(a.dst, a.bytes, b.dst, b.bytes)) return true;
    }
  return false;
}
bool have_neighbours(std::vector<Piece> const& pieces) {
  for (Piece const& a : pieces)
    for (Piece const& b : pieces)
      if (a.dst + a.bytes == b.dst && a.src + a.bytes == b.src) return true;
  return false;
}
bool have_rows(std::vector<Piece> const& pieces) {
  for (std::size_t first = 0; first + regular_pieces <= pieces.size(); ++first) {
    bool equal = true;
    for (std::size_t i = first + 1; i < first + regular_pieces; ++i) {
      equal = equal && pieces[i].bytes == pieces[first].bytes &&
              pieces[i].dst - pieces[i - 1].dst == pieces[first + 1].dst - pieces[first].dst &&
              pieces[i].src - pieces[i - 1].src == pieces[first + 1].src - pieces[first].src;
    }
    if (equal) return true;
  }
  return false;
}

TEST_CASE("few copies are plain if nothing depends on another, and nothing can be merged",
          "[few_copies]") {
  std::mt19937 random(11);
  auto const below = [&](std::size_t n) { return std::size_t(random() % n); };
  int plain        = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<Piece> pieces(1 + below(FewCopies::most));
    std::size_t const room = round % 2 == 0 ? 24 : 400, longest = 1 + below(8);
    bool const near_each_other = below(4) == 0;
    for (Piece& piece : pieces)
      piece = {there + below(room), (near_each_other ? there + room : here) + below(room),
               1 + below(longest)};
    if (below(3) == 0)
      for (std::size_t i = 1; i < pieces.size(); ++i)  // rows
        pieces[i] = {pieces[i - 1].dst + 8, pieces[i - 1].src + 16, pieces[0].bytes};
    CAPTURE(round);
    bool const found = are_plain(pieces);
    if (found) {
      REQUIRE_FALSE(depend_on_each_other(pieces));
      REQUIRE_FALSE(have_neighbours(pieces));
      REQUIRE_FALSE(have_rows(pieces));
    } else if (!near_each_other) {  // whose sides may only seem to meet
      REQUIRE((depend_on_each_other(pieces) || have_neighbours(pieces) || have_rows(pieces)));
    }
    plain += found;
  }
  CHECK((plain > 2000 && plain < 18000));
}

TEST_CASE("what has no bytes or no memory is not for the call for few copies", "[few_copies]") {
  CHECK(are_plain({{there, here, 8}}));
  CHECK_FALSE(are_plain({{there, here, 0}}));
  CHECK_FALSE(are_plain({{0, here, 8}}));
  CHECK_FALSE(are_plain({{there, here, 8}, {there + 100, 0, 8}}));
  CHECK_FALSE(are_plain({{there, there, 8}}));
  CHECK_FALSE(FewCopies().are_plain(regular_pieces));
}

TEST_CASE("slices that continue each other become one copy, and empty ones none", "[few_copies]") {
  FewCopies copies;
  auto const merge = [&](Piece const& piece) {
    return copies.add_or_merge(reinterpret_cast<char*>(piece.dst),
                               reinterpret_cast<char const*>(piece.src), piece.bytes);
  };
  CHECK(merge({there, here, 0}));
  CHECK(copies.count() == 0);
  CHECK(merge({there, here, 8}));
  CHECK(merge({there + 8, here + 8, 8}));
  CHECK(merge({0, 0, 0}));
  CHECK(merge({there + 16, here + 16, 4}));
  CHECK(merge({there + 20, here + 64, 4}));  // on one side only
  CHECK_FALSE(merge({0, here + 100, 4}));
  REQUIRE(copies.count() == 2);
  CHECK((copies.bytes()[0] == 20 && copies.bytes()[1] == 4));
  CHECK(copies.dsts()[1] == reinterpret_cast<void*>(there + 20));
  CHECK(copies.srcs()[1] == reinterpret_cast<void const*>(here + 64));
  CHECK(copies.are_plain(regular_pieces));
}

}  // namespace FewCopiesTests
