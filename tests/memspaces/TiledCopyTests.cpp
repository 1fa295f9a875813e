// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The arithmetic of copies by tiles, and of copies of short pieces, where the kernels run on the
// host. DeepCopyCuda.cpp copies by them on a device.

#include "RandomCopies.hpp"
#include "Rounds.hpp"

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/impl/PieceCopy.hpp>
#include <KokkosHostSpaces/impl/TiledCopy.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace TiledCopies {

using namespace KokkosHostSpaces::Impl;

namespace {

using Bytes   = std::vector<unsigned char>;
using Extents = std::vector<std::size_t>;

// Dense, with dimensions in the given order, the first one the fastest.
Extents strides(Extents const& extents, Extents const& order) {
  Extents result(extents.size());
  std::size_t next = 1;
  for (std::size_t const r : order) {
    result[r] = next;
    next *= extents[r];
  }
  return result;
}

// Heap memory at a multiple of 16 bytes.
struct Aligned {
  explicit Aligned(std::size_t bytes) : memory(bytes / 16 + 1) {}
  unsigned char* data() { return reinterpret_cast<unsigned char*>(memory.data()); }
  struct alignas(16) Word {
    unsigned char bytes[16] = {};
  };
  std::vector<Word> memory;
};

// Copies an array of dimensions in one order to one in another by tiles, and checks every byte.
// Returns false if tiles are not for it.
bool copies_by_tiles(std::size_t element, Extents const& extents, Extents const& dst_order,
                     Extents const& src_order, bool dst_first) {
  Extents const to = strides(extents, dst_order), from = strides(extents, src_order);
  CopyPlan const plan =
      make_copy_plan(element, int(extents.size()), extents.data(), to.data(), from.data());
  std::size_t const count =
      std::accumulate(extents.begin(), extents.end(), std::size_t(1), std::multiplies<>());
  std::size_t const guard = 64;
  Aligned src(count * element), dst(count * element + guard);
  for (std::size_t i = 0; i < count * element; ++i)
    src.data()[i] = static_cast<unsigned char>(i * 2654435761u >> 16);
  std::memset(dst.data(), 0xee, count * element + guard);
  auto const tiling = make_tiling(plan, 0, dst_first);
  if (!tiling) return false;
  Kokkos::DefaultHostExecutionSpace const instance;
  run_tiled_copy(instance, *tiling, dst.data(), src.data(), 1);
  instance.fence();

  std::size_t wrong = 0;
  for (std::size_t n = 0; n < count; ++n) {
    std::size_t rest = n, a = 0, b = 0;
    for (std::size_t r = 0; r < extents.size(); ++r) {
      a += rest % extents[r] * to[r];
      b += rest % extents[r] * from[r];
      rest /= extents[r];
    }
    wrong += std::memcmp(dst.data() + a * element, src.data() + b * element, element) != 0;
  }
  for (std::size_t i = 0; i < guard; ++i) wrong += dst.data()[count * element + i] != 0xee;
  CHECK(wrong == 0);
  return true;
}

}  // namespace

TEST_CASE("tiles turn a matrix of any extents and element sizes", "[tiled_copy]") {
  for (std::size_t const element : {1, 2, 4, 8, 16})
    for (std::size_t const rows : {2, 3, 31, 32, 33, 100, 129})
      for (std::size_t const columns : {2, 5, 32, 65, 131}) {
        INFO(element << " bytes, " << rows << " x " << columns);
        CHECK(copies_by_tiles(element, {rows, columns}, {0, 1}, {1, 0}, true));
        CHECK(copies_by_tiles(element, {rows, columns}, {1, 0}, {0, 1}, false));
      }
}

// Carries a random copy out as a device would, as far as a plan is for that; by tiles if it can.
bool is_wrong(RandomCopies::Case const& c, std::mt19937& random, int& by_tiles) {
  std::size_t const to_bytes = c.span(c.dst) * c.element, guard = 64;
  Aligned src(c.span(c.src) * c.element), dst(to_bytes + guard);
  static Bytes const anything = [] {
    Bytes bytes(std::size_t(1) << 22);
    std::generate(bytes.begin(), bytes.end(), std::mt19937(1));
    return bytes;
  }();
  REQUIRE(c.span(c.src) * c.element <= anything.size() / 2);
  std::memcpy(src.data(), anything.data() + random() % (anything.size() / 2),
              c.span(c.src) * c.element);
  Bytes wanted(to_bytes + guard, 0xee);
  std::memset(dst.data(), 0xee, wanted.size());
  c.copy(wanted.data(), src.data());
  auto const to = c.strides(c.dst), from = c.strides(c.src);
  CopyPlan const plan =
      make_copy_plan(c.element, int(to.size()), c.extents.data(), to.data(), from.data());
  auto* const begin      = dst.data() + c.dst.offset * c.element;
  auto const* const read = src.data() + c.src.offset * c.element;
  auto const addresses =
      reinterpret_cast<std::uintptr_t>(begin) | reinterpret_cast<std::uintptr_t>(read);
  if (auto const tiling = make_tiling(plan, addresses, random() % 2 == 0)) {
    run_tiled_copy(Kokkos::DefaultHostExecutionSpace(), *tiling, begin, read, 1);
    Kokkos::fence();
    ++by_tiles;
  } else {
    copy_async(begin, read, plan, nullptr);
  }
  return std::memcmp(wanted.data(), dst.data(), wanted.size()) != 0;
}

TEST_CASE("random copies of up to eight dimensions are planned right, by boxes and by tiles",
          "[random_copies]") {
  unsigned const seed = 20251122;
  std::mt19937 random(seed);
  int const count = rounds(3000);
  int by_tiles    = 0;
  for (int round = 0; round < count; ++round) {
    std::size_t const element = std::size_t(1) << random() % 5;
    auto const c =
        RandomCopies::make_case(random, random() % 8 == 0 ? 12 : element, 1 + random() % 8, 3000);
    auto const fails = [&](RandomCopies::Case const& other) {
      return is_wrong(other, random, by_tiles);
    };
    if (fails(c))
      FAIL("seed " << seed << ", round " << round << ": " << RandomCopies::shrink(c, fails).text());
  }
  CHECK(by_tiles > count / 20);
}

TEST_CASE("a tile has lines of 128 bytes at least, also where one extent is short",
          "[tiled_copy]") {
  auto const tiling = [](std::size_t element, std::size_t rows, std::size_t columns) {
    std::size_t const extents[] = {rows, columns}, to[] = {columns, 1}, from[] = {1, rows};
    return *make_tiling(make_copy_plan(element, 2, extents, to, from), 0, true);
  };
  for (std::size_t const element : {1, 2, 4, 8, 16}) {
    Tiling const t = tiling(element, 1000, 1000);
    CHECK(t.side_dst * element >= 128);
    CHECK(t.side_src * element >= 128);
    CHECK(t.bytes_of_tile <= 20000);
  }
  // Three components of a million points.
  Tiling const points = tiling(8, 1000000, 3);
  CHECK(points.side_dst == 3);
  CHECK(points.side_src >= 256);
  CHECK(points.tiles * points.side_dst * points.side_src < 3300000);
}

TEST_CASE("tiles are not for words at odd addresses, nor for copies that keep the order",
          "[tiled_copy]") {
  std::size_t const extents[] = {100, 100}, rows[] = {100, 1}, columns[] = {1, 100},
                    padded[] = {128, 1};
  CHECK(suits_tiles(make_copy_plan(8, 2, extents, rows, columns), 4096));
  CHECK_FALSE(suits_tiles(make_copy_plan(8, 2, extents, rows, columns), 4100));
  CHECK_FALSE(suits_tiles(make_copy_plan(24, 2, extents, rows, columns), 0));
  CHECK_FALSE(suits_tiles(make_copy_plan(8, 2, extents, rows, padded), 0));
}

TEST_CASE("short pieces are copied whole, whatever their alignment and length", "[tiled_copy]") {
  std::mt19937 random(7);
  std::size_t const slot = 256, count = 500;
  Aligned src(slot * count), dst(slot * count);
  std::generate_n(src.data(), slot * count, [&] { return static_cast<unsigned char>(random()); });
  Bytes expected(slot * count, 0);
  std::vector<CopyPiece> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const step = std::size_t(1) << random() % 5, to = step * (random() % 3),
                      from = step * (random() % 3), bytes = 1 + random() % 200;
    auto* const begin = reinterpret_cast<char*>(src.data() + slot * i + from);
    pieces.push_back({reinterpret_cast<char*>(dst.data() + slot * i + to), begin, bytes, 0, false});
    std::copy(begin, begin + bytes, expected.begin() + std::ptrdiff_t(slot * i + to));
  }
  Kokkos::DefaultHostExecutionSpace const instance;
  run_piece_copy(instance, pieces.data(), pieces.size(), 1);
  instance.fence();
  CHECK(std::equal(expected.begin(), expected.end(), dst.data()));
}

}  // namespace TiledCopies
