// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Slices become the pieces that they are, merged where one continues the one before, and are known
// again by their numbers alone.

#include <KokkosHostSpaces/impl/batch/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/batch/SliceSweep.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace SliceSweeps {

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl;
using Slices = std::vector<Slice>;

// Nobody looks into the memory.
char* at(std::uintptr_t address) { return reinterpret_cast<char*>(address); }
char *const there = at(std::uintptr_t(1) << 40), *const here = at(std::uintptr_t(1) << 41);

constexpr std::size_t extent = 100000;

ArraySlices of(Slices const& slices, std::size_t dst_extent = extent,
               std::size_t src_extent = extent, std::size_t element = 8) {
  return {{there, dst_extent}, {here, src_extent}, element, slices};
}

struct Swept {
  explicit Swept(ArraySlices const& slices)
      : ends(slices.slices.size()), lengths(slices.slices.size()) {
    CopyPiece const first = slices.piece(0);
    PieceSweep sweep(first.dst, first.src, ends.data(), lengths.data());
    is_swept = slices.sweep(sweep);
    if (is_swept) found = sweep.finish();
  }
  std::vector<NearEnds> ends;
  std::vector<std::uint32_t> lengths;
  NearPieces found{};
  bool is_swept;
};

// With gaps, in no regular order.
Slices scattered(std::size_t count) {
  Slices slices;
  for (std::size_t i = 0; i < count; ++i)
    slices.push_back({20 * i, 10 + 20 * (i ^ (i >> 1)), 1 + i % 9});
  return slices;
}

TEST_CASE("slices are swept as pieces of bytes", "[slices]") {
  Slices const slices = scattered(100);
  Swept const swept(of(slices));
  REQUIRE(swept.found.count == slices.size());
  CHECK((swept.found.dst == there && swept.found.src == here + 80));
  for (std::size_t i = 0; i < slices.size(); ++i) {
    CHECK(swept.found.dst + swept.ends[i].dst == there + 8 * slices[i].dst);
    CHECK(swept.found.src + swept.ends[i].src == here + 8 * slices[i].src);
    CHECK(swept.lengths[i] == 8 * slices[i].count);
  }
}

TEST_CASE("empty slices are left out, and one that continues the one before is part of it",
          "[slices]") {
  Slices const slices = {{5, 7, 0},   {100, 200, 3},  {103, 203, 4}, {0, 0, 0},  {107, 207, 1},
                         {108, 0, 2}, {200, 300, 10}, {210, 0, 1},   {211, 1, 1}};
  Swept const swept(of(slices));
  REQUIRE(swept.found.count == 4);
  CHECK(swept.lengths[0] == 8 * 8);
  CHECK(swept.found.dst + swept.ends[0].dst == there + 800);
  CHECK(swept.found.src + swept.ends[0].src == here + 1600);
  CHECK(swept.lengths[1] == 8 * 2);
  CHECK(swept.lengths[2] == 8 * 10);
  CHECK(swept.lengths[3] == 8 * 2);
  Swept const run(of({{0, 5, 10}, {10, 15, 1}, {11, 16, 100}}));
  CHECK((run.found.count == 1 && run.found.longest == 8 * 111));
  CHECK(Swept(of({{0, 0, 0}, {1, 1, 0}})).found.count == 0);
}

TEST_CASE("merged slices are no longer than a piece may be", "[slices]") {
  std::size_t const half = std::size_t(1) << 29, n = 4 * half;
  CHECK(Swept(of({{0, 0, half}, {half, half, half}}, n, n, 1)).found.count == 1);
  CHECK_FALSE(Swept(of({{0, 0, half}, {half, half, half + 1}}, n, n, 1)).is_swept);
}

TEST_CASE("a slice that is not in its arrays is not swept, whatever its numbers", "[slices]") {
  std::size_t const far = std::numeric_limits<std::size_t>::max();
  for (Slice const& bad :
       {Slice{extent, 0, 1}, Slice{0, extent - 1, 2}, Slice{far, 0, 1}, Slice{0, far, 2},
        Slice{1, 1, far}, Slice{far, far, far}, Slice{extent + 1, 0, 0}}) {
    Slices slices = scattered(10);
    slices.push_back(bad);
    CHECK_FALSE(of(slices).has(bad));
    CHECK_FALSE(Swept(of(slices)).is_swept);
  }
  CHECK(of({}).has({extent, extent, 0}));
}

TEST_CASE("slices of equal length at equal distances are rows", "[slices]") {
  std::size_t const count = GENERATE(3, 4, 63, 64, 65, 66, 67, 130, 1000);
  Slices slices;
  for (std::size_t i = 0; i < count; ++i) slices.push_back({100 + 20 * i, 5 + 10 * i, 7});
  auto const are_rows = [](ArraySlices const& numbers) {
    PieceRows rows;
    return numbers.sweep(rows);
  };
  PieceRows rows;
  REQUIRE(of(slices).sweep(rows));
  CopyRows const found = rows.rows();
  CHECK(found.count == count);
  CHECK(found.first.dst == there + 8 * 100);
  CHECK(found.first.src == here + 8 * 5);
  CHECK((found.first.bytes == 56 && found.dst_step == 160 && found.src_step == 80));
  std::size_t const end_of_dst = slices.back().dst + 7, end_of_src = slices.back().src + 7;
  CHECK(are_rows(of(slices, end_of_dst, end_of_src)));
  CHECK_FALSE(are_rows(of(slices, end_of_dst - 1, end_of_src)));
  CHECK_FALSE(are_rows(of(slices, end_of_dst, end_of_src - 1)));
  for (std::size_t const i : {std::size_t(0), std::size_t(1), count / 2, count - 1})
    for (auto const number : {&Slice::dst, &Slice::src, &Slice::count}) {
      Slices other = slices;
      ++(other[i].*number);
      CHECK_FALSE(are_rows(of(other)));
    }
  CHECK_FALSE(are_rows(of({slices[0], slices[1]})));
}

TEST_CASE("rows whose offsets are no numbers any more are not in their arrays", "[slices]") {
  // Each is as far behind the one before, the fourth beyond all numbers.
  constexpr std::size_t all = ~std::size_t(0), step = all / 3 + 100;
  Slices const slices{{0, 0, 1}, {step, 10, 1}, {2 * step, 20, 1}, {3 * step, 30, 1}};
  PieceRows rows;
  CHECK_FALSE(of(slices, all, all, 1).sweep(rows));
}

TEST_CASE("slices that overlap are not plain", "[slices]") {
  CHECK(Swept(of({{0, 0, 5}, {5, 100, 5}})).found.count == 2);
  CHECK(Swept(of({{0, 0, 5}, {4, 100, 5}})).found.count == 0);
  CHECK(Swept(of({{5, 100, 5}, {1, 0, 5}})).found.count == 0);
}

// Where each byte that is written comes from.
using Bytes = std::map<std::ptrdiff_t, std::ptrdiff_t>;

Bytes bytes_of(Slices const& slices, std::size_t element) {
  Bytes bytes;
  for (Slice const& slice : slices)
    for (std::size_t i = 0; i < element * slice.count; ++i)
      bytes[std::ptrdiff_t(element * slice.dst + i)] = std::ptrdiff_t(element * slice.src + i);
  return bytes;
}
Bytes bytes_of(NearPieces const& pieces) {
  Bytes bytes;
  for (std::size_t k = 0; k < pieces.count; ++k)
    for (std::uint32_t i = 0; i < pieces.lengths[k]; ++i)
      bytes[pieces.dst + pieces.ends[k].dst + i - there] =
          pieces.src + pieces.ends[k].src + i - here;
  return bytes;
}

TEST_CASE("slices in any order are swept as they are, or once they are sorted", "[slices]") {
  std::mt19937 random(20251123);
  int as_they_are = 0, sorted = 0, merged = 0;
  for (int round = 0; round < 3000; ++round) {
    Slices slices;
    std::size_t to = 0, gap = random() % 3, element = std::size_t(1) << random() % 4;
    for (std::size_t left = 2 + random() % 60; left > 0; --left) {
      std::size_t const count = random() % 7;
      bool const goes_on      = !slices.empty() && random() % 5 == 0;
      slices.push_back(
          {to, goes_on ? slices.back().src + slices.back().count : random() % 900, count});
      to += count + (gap > 0 ? random() % gap : 0);
    }
    if (random() % 2 == 0) std::shuffle(slices.begin(), slices.end(), random);
    ArraySlices const arrays = of(slices, 1000, 2000, element);
    Swept swept(arrays);
    as_they_are += swept.found.count > 0;
    if (swept.found.count == 0) {
      CopyBatch batch(CopyBatch::Neighbours::merged);
      for (std::size_t i = 0; i < slices.size(); ++i) batch.add(arrays.piece(i));
      REQUIRE_FALSE(batch.find_conflict());
      CopyPiece const first = arrays.piece(0);
      PieceSweep sweep(first.dst, first.src, swept.ends.data(), swept.lengths.data());
      for (CopyPiece const& piece : batch.pieces())
        REQUIRE(sweep.add_or_merge(piece.dst, piece.src, piece.bytes));
      swept.found = sweep.finish();
      sorted += swept.found.count > 0;
    }
    if (swept.found.count == 0) continue;  // such as rows
    merged += swept.found.count < slices.size();
    INFO("round " << round);
    REQUIRE(bytes_of(swept.found) == bytes_of(slices, element));
  }
  CHECK((as_they_are > 1000 && sorted > 500 && merged > 1000));
}

TEST_CASE("slices are known by their numbers, where they lie in the arrays", "[slices]") {
  Slices const slices = scattered(1000);
  KnownSlices const known(of(slices));
  Slices const same = slices;
  CHECK(known.are(of(same)));
  ArraySlices elsewhere = of(same);
  elsewhere.dst.begin += 4096;
  elsewhere.src.begin += 8;
  CHECK(known.are(elsewhere));
  for (std::size_t const i : {0, 1, 500, 999}) {
    for (auto const member : {&Slice::dst, &Slice::src, &Slice::count})
      for (std::size_t const difference : {std::size_t(1), std::size_t(1) << 40}) {
        Slices others = slices;
        others[i].*member += difference;
        CHECK_FALSE(known.are(of(others)));
      }
  }
  Slices fewer = slices;
  fewer.pop_back();
  CHECK_FALSE(known.are(of(fewer)));
  CHECK_FALSE(known.are(of(slices, extent, extent, 4)));
  CHECK_FALSE(KnownSlices().are(of(slices)));
  CHECK(known.are(of(slices, extent + 1, extent + 1)));
  CHECK_FALSE(known.are(of(slices, extent - 1, extent)));
  CHECK_FALSE(known.are(of(slices, extent, extent - 1)));
}

}  // namespace SliceSweeps
