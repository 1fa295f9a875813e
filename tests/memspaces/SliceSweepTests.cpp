// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Slices become the pieces that they are, merged where one continues the one before, and are known
// again by their numbers alone.

#include <KokkosHostSpaces/impl/SliceSweep.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
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

TEST_CASE("slices that overlap are not plain", "[slices]") {
  CHECK(Swept(of({{0, 0, 5}, {5, 100, 5}})).found.count == 2);
  CHECK(Swept(of({{0, 0, 5}, {4, 100, 5}})).found.count == 0);
  CHECK(Swept(of({{5, 100, 5}, {1, 0, 5}})).found.count == 0);
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

  std::size_t dst_end = 0, src_end = 0;
  for (Slice const& slice : slices) {
    dst_end = std::max(dst_end, slice.dst + slice.count);
    src_end = std::max(src_end, slice.src + slice.count);
  }
  CHECK(known.are(of(slices, dst_end, src_end)));
  CHECK_FALSE(known.are(of(slices, dst_end - 1, src_end)));
  CHECK_FALSE(known.are(of(slices, dst_end, src_end - 1)));
}

}  // namespace SliceSweeps
