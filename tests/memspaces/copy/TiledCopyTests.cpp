// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Tiles of a copy, and their kernel with a team of threads of the host.

#include "../KokkosTest.hpp"

#include <KokkosHostSpaces/impl/copy/TiledCopy.hpp>

#include <barrier>

namespace TiledCopies {

using namespace KokkosHostSpaces::Impl;

namespace {

// Heap memory at a multiple of 16 bytes.
struct Aligned {
  explicit Aligned(std::size_t bytes) : memory(bytes / 16 + 1) {}
  unsigned char* data() { return reinterpret_cast<unsigned char*>(memory.data()); }
  struct alignas(16) Word {
    unsigned char bytes[16] = {};
  };
  std::vector<Word> memory;
};

}  // namespace

// A team as of a device: threads that run at the same time, with exactly the scratch memory that
// was asked for, at an odd multiple of 8.
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

// Transposes rows x columns words by a team of `threads` threads, and returns the number of wrong
// bytes.
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

TEST_CASE("the threads of a team transpose tiles together, within the scratch memory they ask for",
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

TEST_CASE("there are no more tiles than Kokkos' loop over teams can count", "[tiled_copy]") {
  auto const suits = [](std::size_t matrices) {
    std::size_t const extents[] = {matrices, 2, 2}, to[] = {4, 2, 1}, from[] = {4, 1, 2};
    return make_tiling(make_copy_plan(8, 3, extents, to, from), 0, false).has_value();
  };
  CHECK(suits(std::size_t(1) << 20));
  CHECK_FALSE(suits(std::size_t(1) << 30));
}

TEST_CASE("tiles are not for words at odd addresses, nor for copies that keep the order",
          "[tiled_copy]") {
  std::size_t const extents[] = {100, 100}, rows[] = {100, 1}, columns[] = {1, 100},
                    padded[] = {128, 1};
  CHECK(make_tiling(make_copy_plan(8, 2, extents, rows, columns), 4096, false).has_value());
  CHECK_FALSE(make_tiling(make_copy_plan(8, 2, extents, rows, columns), 4100, false).has_value());
  CHECK_FALSE(make_tiling(make_copy_plan(24, 2, extents, rows, columns), 0, false).has_value());
  CHECK_FALSE(make_tiling(make_copy_plan(8, 2, extents, rows, padded), 0, false).has_value());
}

}  // namespace TiledCopies
