// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Batches that were checked are known again, of whatever memory they are, and nothing else is.

#include <KokkosHostSpaces/impl/batch/PlainLists.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace PlainListTests {

using namespace KokkosHostSpaces::Impl;

struct Piece {
  char* dst;
  char const* src;
  std::size_t bytes;
};
using Pieces = std::vector<Piece>;

// Nobody looks into the memory.
char* at(std::uintptr_t address) { return reinterpret_cast<char*>(address); }
char *const there = at(std::uintptr_t(1) << 40), *const here = at(std::uintptr_t(1) << 41);

// With gaps, in no regular order; others for each `seed`.
Pieces pieces_of(std::size_t count, unsigned seed = 0, char* dst = there, char const* src = here) {
  std::mt19937 random(seed);
  Pieces pieces;
  for (std::size_t i = 0; i < count; ++i)
    pieces.push_back({dst + 200 * i, src + 500 * (i ^ (i >> 1)), 1 + random() % 150});
  return pieces;
}

// What sweeps write, and who owns it.
struct Table : PlainList {
  std::vector<NearEnds> ends;
  std::vector<std::uint32_t> lengths;
};

PlainLists::List swept(Pieces const& pieces) {
  auto table = std::make_shared<Table>();
  table->ends.resize(pieces.size());
  table->lengths.resize(pieces.size());
  PieceSweep sweep(pieces[0].dst, pieces[0].src, table->ends.data(), table->lengths.data());
  for (Piece const& piece : pieces) REQUIRE(sweep.add(piece.dst, piece.src, piece.bytes));
  table->pieces = sweep.finish();
  REQUIRE(table->pieces.count == pieces.size());
  return table;
}

PlainLists::List find(PlainLists& lists, Pieces const& pieces) {
  return lists.find([&](PlainList const& list) {
    if (list.pieces.count != pieces.size()) return false;
    PieceComparison comparison(list.pieces, pieces[0].dst, pieces[0].src);
    for (Piece const& piece : pieces)
      if (!comparison.add(piece.dst, piece.src, piece.bytes)) return false;
    return true;
  });
}

TEST_CASE("a batch is known again in other memory, and not if one piece is another",
          "[plain_lists]") {
  PlainLists lists;
  auto const pieces = pieces_of(100);
  CHECK(find(lists, pieces) == nullptr);
  auto const list = swept(pieces);
  lists.keep(list);
  CHECK(find(lists, pieces) == list);
  CHECK(find(lists, pieces_of(100, 0, here + 8, there - 64)) == list);
  CHECK(find(lists, pieces_of(101)) == nullptr);
  CHECK(find(lists, pieces_of(99)) == nullptr);
  for (std::size_t const i : {0, 1, 50, 99}) {
    auto const is_other = [&](auto const& change) {
      auto others = pieces;
      change(others[i]);
      return find(lists, others) == nullptr;
    };
    INFO("piece " << i);
    CHECK(is_other([](Piece& piece) { piece.bytes += 1; }));
    CHECK(is_other([](Piece& piece) { piece.bytes += std::size_t(1) << 32; }));
    CHECK(is_other([](Piece& piece) { piece.bytes = 0; }));
    CHECK(is_other([](Piece& piece) { piece.dst += 1; }));
    CHECK(is_other([](Piece& piece) { piece.src -= 1; }));
    CHECK(is_other([](Piece& piece) { piece.dst += std::size_t(1) << 32; }));
    CHECK(is_other([](Piece& piece) { piece.src -= std::size_t(1) << 32; }));
    CHECK(is_other([](Piece& piece) { piece = {piece.dst + 8, piece.src + 8, piece.bytes}; }));
  }
}

TEST_CASE("where a batch that is known would write what it reads, it is not plain",
          "[plain_lists]") {
  auto const pieces = pieces_of(100);
  auto const plain  = swept(pieces);
  auto const* list  = &plain->pieces;
  auto const moved  = list->at(here + 16, there + 8);
  CHECK(moved.count == 100);
  CHECK((moved.dst == here + 16 && moved.src == there + 8));
  CHECK((moved.ends == list->ends && moved.longest == list->longest));
  CHECK(std::countr_zero(moved.alignment()) == 2);  // as 500
  CHECK(list->at(there, there).count == 0);
  CHECK(list->at(there, there + 200 * 99).count == 0);  // the last one is written where one is read
  CHECK(list->at(there, there + 200 * 100).count == 100);
  CHECK(list->at(nullptr, here).count == 0);
  CHECK(list->at(there, nullptr).count == 0);
}

TEST_CASE("the batch that was not asked for the longest is forgotten first", "[plain_lists]") {
  PlainLists lists;
  std::vector<Pieces> batches;
  for (unsigned seed = 0; seed < PlainLists::most + 1; ++seed)
    batches.push_back(pieces_of(seed % 2 == 0 ? 50 : 60, seed));
  for (std::size_t i = 0; i < PlainLists::most; ++i) lists.keep(swept(batches[i]));
  for (std::size_t i = 0; i < PlainLists::most; ++i) CHECK(find(lists, batches[i]));
  CHECK(find(lists, batches[0]));
  lists.keep(swept(batches.back()));
  CHECK(find(lists, batches.back()));
  CHECK(find(lists, batches[0]));
  CHECK_FALSE(find(lists, batches[1]));
  lists.clear();
  for (Pieces const& pieces : batches) CHECK_FALSE(find(lists, pieces));
}

TEST_CASE("a list that is forgotten lives until nobody uses it", "[plain_lists]") {
  PlainLists lists;
  auto const pieces = pieces_of(100);
  lists.keep(swept(pieces));
  auto used                                 = find(lists, pieces);
  std::weak_ptr<PlainList const> const life = used;
  for (unsigned seed = 1; seed <= PlainLists::most; ++seed) lists.keep(swept(pieces_of(100, seed)));
  CHECK(find(lists, pieces) == nullptr);
  CHECK(used->pieces.lengths[99] == pieces[99].bytes);
  used.reset();
  CHECK(life.expired());
}

TEST_CASE("threads keep and find batches at the same time", "[plain_lists]") {
  PlainLists lists;
  std::atomic<int> wrong{0}, found{0};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (unsigned round = 0; round < 300; ++round) {
        auto const pieces = pieces_of(64, (round / 2 + thread) % 6);
        if (auto const list = find(lists, pieces)) {
          ++found;
          for (std::size_t i = 0; i < pieces.size(); ++i)
            wrong += list->pieces.lengths[i] != pieces[i].bytes;
        } else {
          auto table = std::make_shared<Table>();
          for (Piece const& piece : pieces) {
            table->ends.push_back({int(piece.dst - pieces[0].dst), int(piece.src - pieces[0].src)});
            table->lengths.push_back(std::uint32_t(piece.bytes));
          }
          table->pieces.ends    = table->ends.data();
          table->pieces.lengths = table->lengths.data();
          table->pieces.count   = pieces.size();
          lists.keep(table);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(found > 0);
}

TEST_CASE("neighbours on both sides are a run, and others are none", "[plain_lists]") {
  auto const run_of = [](Pieces const& pieces) {
    PieceRun run(pieces[0].dst, pieces[0].src);
    for (Piece const& piece : pieces)
      if (!run.add(piece.dst, piece.src, piece.bytes)) return std::size_t(0);
    return run.sides_are_apart() ? run.bytes() : 0;
  };
  auto const neighbours = [](char* dst, char const* src) {
    Pieces pieces;
    for (std::size_t i = 0; i < 100; ++i) {
      pieces.push_back({dst, src, 10 + i});
      dst += 10 + i;
      src += 10 + i;
    }
    return pieces;
  };
  std::size_t const all = 1000 + 99 * 50;
  CHECK(run_of(neighbours(there, here)) == all);
  CHECK(run_of(neighbours(there, there + all)) == all);
  CHECK(run_of(neighbours(there, there - all)) == all);
  CHECK(run_of(neighbours(there, there + all - 1)) == 0);
  CHECK(run_of(neighbours(there, there - all + 1)) == 0);
  for (std::size_t const i : {1, 50, 99}) {
    auto pieces = neighbours(there, here);
    pieces[i].dst += 1;
    CHECK(run_of(pieces) == 0);
    pieces = neighbours(there, here);
    pieces[i].src -= 1;
    CHECK(run_of(pieces) == 0);
    if (i == 99) continue;
    pieces = neighbours(there, here);
    pieces[i].bytes -= 1;
    CHECK(run_of(pieces) == 0);
  }
}

}  // namespace PlainListTests
