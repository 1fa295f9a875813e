// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The arithmetic of copies by tiles, and of copies of short pieces, where the kernels run on the
// host. DeepCopyCuda.cpp copies by them on a device.

#include "DenseStrides.hpp"
#include "RandomCopies.hpp"
#include "../Rounds.hpp"

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/impl/batch/PieceCopy.hpp>
#include <KokkosHostSpaces/impl/copy/TiledCopy.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace TiledCopies {

using namespace KokkosHostSpaces::Impl;

namespace {

using Bytes   = std::vector<unsigned char>;
using Extents = std::vector<std::size_t>;
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
  Extents const to = dense_strides(extents, dst_order), from = dense_strides(extents, src_order);
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

// A team of a device, of threads that really run at the same time, with no byte of scratch memory
// more than was asked for, and that at an odd multiple of 8.
struct Team {
  struct Scratch {
    char *begin, *end;
    void* get_shmem_aligned(std::size_t bytes, std::size_t alignment) const {
      auto const at      = reinterpret_cast<std::uintptr_t>(begin);
      char* const result = begin + (alignment - at % alignment) % alignment;
      return result + bytes <= end ? result : nullptr;
    }
  };
  std::size_t league;
  int rank, size;
  std::barrier<>* barrier;
  Scratch scratch;

  std::size_t league_rank() const { return league; }
  int team_rank() const { return rank; }
  int team_size() const { return size; }
  Scratch team_scratch(int) const { return scratch; }
  void team_barrier() const { barrier->arrive_and_wait(); }
};

// Turns rows x columns words by a team of so many threads; the number of wrong bytes.
template <class Word>
std::size_t wrong_by_team(std::size_t rows, std::size_t columns, int threads) {
  std::size_t const extents[] = {rows, columns}, to[] = {columns, 1}, from[] = {1, rows};
  Tiling const tiling =
      *make_tiling(make_copy_plan(sizeof(Word), 2, extents, to, from), 0, columns % 2 == 0);
  std::size_t const bytes = rows * columns * sizeof(Word), guard = 64,
                    asked = scratch_bytes<Word>(tiling);
  Aligned src(bytes), dst(bytes + guard), scratch(8 + asked + guard);
  for (std::size_t i = 0; i < bytes; ++i)
    src.data()[i] = static_cast<unsigned char>(i * 2654435761u >> 16);
  std::memset(dst.data(), 0xee, bytes + guard);
  std::memset(scratch.data(), 0xee, 8 + asked + guard);
  char* const begin = reinterpret_cast<char*>(scratch.data()) + 8;
  TiledCopy<Word> const kernel{reinterpret_cast<char*>(dst.data()),
                               reinterpret_cast<char const*>(src.data()), tiling};
  std::barrier<> barrier(threads);
  std::vector<std::thread> team;
  for (int rank = 0; rank < threads; ++rank)
    team.emplace_back([&, rank] {
      for (std::size_t tile = 0; tile < tiling.tiles; ++tile) {
        kernel(Team{tile, rank, threads, &barrier, {begin, begin + asked}});
        barrier.arrive_and_wait();
      }
    });
  for (std::thread& thread : team) thread.join();

  std::size_t wrong = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      wrong += std::memcmp(dst.data() + (i * columns + j) * sizeof(Word),
                           src.data() + (i + j * rows) * sizeof(Word), sizeof(Word)) != 0;
  for (std::size_t i = 0; i < guard; ++i)
    wrong += (dst.data()[bytes + i] != 0xee) + (scratch.data()[8 + asked + i] != 0xee);
  for (std::size_t i = 0; i < 8; ++i) wrong += scratch.data()[i] != 0xee;
  return wrong;
}

TEST_CASE("the threads of a team turn tiles together, within the scratch memory they ask for",
          "[tiled_copy]") {
  for (auto const& [rows, columns] :
       {std::pair(33, 65), std::pair(2, 1000), std::pair(1001, 3), std::pair(129, 131)}) {
    auto const a = std::size_t(rows), b = std::size_t(columns);
    INFO(a << " x " << b);
    CHECK(wrong_by_team<std::uint8_t>(a, b, 7) == 0);
    CHECK(wrong_by_team<std::uint16_t>(a, b, 4) == 0);
    CHECK(wrong_by_team<std::uint32_t>(a, b, 5) == 0);
    CHECK(wrong_by_team<std::uint64_t>(a, b, 3) == 0);
    CHECK(wrong_by_team<LongWord>(a, b, 6) == 0);
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

TEST_CASE("there are no more tiles than Kokkos' loop over teams can count", "[tiled_copy]") {
  auto const suits = [](std::size_t matrices) {
    std::size_t const extents[] = {matrices, 2, 2}, to[] = {4, 2, 1}, from[] = {4, 1, 2};
    return suits_tiles(make_copy_plan(8, 3, extents, to, from), 0);
  };
  CHECK(suits(std::size_t(1) << 20));
  CHECK_FALSE(suits(std::size_t(1) << 30));
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

TEST_CASE("short pieces are copied whole, whatever their alignment and length, by one team or more",
          "[tiled_copy]") {
  std::mt19937 random(7);
  for (std::size_t const most : {std::size_t(200), 5 * part_of_piece / 2}) {
    std::size_t const slot = most + 64, count = 60000 / most + 20;
    Aligned src(slot * count), dst(slot * count);
    std::generate_n(src.data(), slot * count, [&] { return static_cast<unsigned char>(random()); });
    Bytes expected(slot * count, 0);
    std::vector<PieceEnds> pieces;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t const step = std::size_t(1) << random() % 5, to = step * (random() % 3),
                        from = step * (random() % 3), bytes = 1 + random() % most;
      auto* const begin = reinterpret_cast<char*>(src.data() + slot * i + from);
      pieces.push_back({reinterpret_cast<char*>(dst.data() + slot * i + to), begin, bytes});
      std::copy(begin, begin + bytes, expected.begin() + std::ptrdiff_t(slot * i + to));
    }
    Kokkos::DefaultHostExecutionSpace const instance;
    auto const known = [&](std::size_t from, std::size_t to) {
      PieceList list;
      for (; from < to; ++from) list.add(pieces[from]);
      return list;
    };
    FewPieces few;
    std::size_t const number = std::min(FewPieces::most, count / 2);
    std::copy_n(pieces.begin(), number, few.pieces);
    PieceEnds const* const others = pieces.data() + number;
    run_piece_copy(instance, PieceCopy(few, known(0, number)));
    run_piece_copy(instance, PieceCopy(others, known(number, count)));
    instance.fence();
    CHECK(std::equal(expected.begin(), expected.end(), dst.data()));
  }
}

}  // namespace TiledCopies
