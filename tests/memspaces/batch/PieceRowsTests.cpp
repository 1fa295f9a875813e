// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/PieceRows.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace KokkosHostSpaces::Impl;

struct Piece {
  std::ptrdiff_t dst, src;
  std::size_t bytes;
};

// Of two arrays of 4096 bytes.
struct Arrays {
  std::vector<char> dst = std::vector<char>(4096), src = std::vector<char>(4096);

  bool are_rows(std::vector<Piece> const& pieces, PieceRows& rows) {
    for (Piece const& piece : pieces)
      if (!rows.add(dst.data() + piece.dst, src.data() + piece.src, piece.bytes)) return false;
    return true;
  }
  bool are_rows(std::vector<Piece> const& pieces) {
    PieceRows rows;
    return are_rows(pieces, rows);
  }
};

}  // namespace

TEST_CASE("pieces of equal length at equal distances are rows", "[copy_batch]") {
  Arrays arrays;
  PieceRows rows;
  REQUIRE(arrays.are_rows({{64, 8, 16}, {96, 24, 16}, {128, 40, 16}, {160, 56, 16}}, rows));
  CopyRows const found = rows.rows();
  CHECK(found.first.dst == arrays.dst.data() + 64);
  CHECK(found.first.src == arrays.src.data() + 8);
  CHECK(found.first.bytes == 16);
  CHECK(found.count == 4);
  CHECK(found.dst_step == 32);
  CHECK(found.src_step == 16);
  CHECK(rows.sides_are_apart());
}

TEST_CASE("other pieces are no rows", "[copy_batch]") {
  Arrays arrays;
  CHECK(arrays.are_rows({{0, 0, 16}, {16, 32, 16}}));                      // one side is dense
  CHECK_FALSE(arrays.are_rows({{0, 0, 16}, {16, 16, 16}}));                // neighbours
  CHECK_FALSE(arrays.are_rows({{0, 0, 16}, {0, 0, 16}}));                  // the same twice
  CHECK_FALSE(arrays.are_rows({{0, 0, 16}, {32, 32, 16}, {32, 32, 16}}));  // a row twice
  CHECK_FALSE(arrays.are_rows({{0, 0, 16}, {8, 32, 16}}));                 // destinations overlap
  CHECK_FALSE(arrays.are_rows({{0, 0, 16}, {32, 8, 16}}));                 // sources overlap
  CHECK_FALSE(arrays.are_rows({{64, 64, 16}, {32, 96, 16}}));              // downwards
  CHECK_FALSE(arrays.are_rows({{64, 64, 16}, {96, 32, 16}}));
  CHECK_FALSE(arrays.are_rows({{0, 0, 16}, {32, 32, 16}, {64, 64, 8}}));   // lengths differ
  CHECK_FALSE(arrays.are_rows({{0, 0, 16}, {32, 32, 16}, {64, 72, 16}}));  // so do distances
  CHECK_FALSE(arrays.are_rows({{0, 0, 0}, {32, 32, 0}}));                  // empty
  PieceRows none;
  CHECK_FALSE(none.add(nullptr, nullptr, 0));
}

TEST_CASE("rows further apart than a copy engine takes are none", "[copy_batch]") {
  // Never copied, and never touched.
  auto const at = [](std::uintptr_t address) { return reinterpret_cast<char*>(address); };
  std::uintptr_t const dst = std::uintptr_t(1) << 40, src = std::uintptr_t(1) << 45;
  for (std::size_t const more : {0, 1}) {
    std::uintptr_t const far = 2147483647 + more;
    for (auto const& [to, from] : {std::pair(far, far), {far, 64ul}, {64ul, far}}) {
      PieceRows rows;
      std::vector<CopyPiece> pieces;
      for (std::uint32_t i = 0; i < 8; ++i)
        pieces.push_back({at(dst + i * to), at(src + i * from), 64, i, false});
      CHECK(rows.add(pieces[0].dst, pieces[0].src, 64));
      CHECK(rows.add(pieces[1].dst, pieces[1].src, 64) == (more == 0));
      BatchPlan const plan = plan_batch(std::move(pieces), true, false, BatchPlan::Use::once);
      CHECK(plan.rows.size() == (more == 0 ? 1 : 0));
      CHECK(plan.others.size() == (more == 0 ? 0 : 8));
    }
  }
}

TEST_CASE("rows that write between what they read are not told apart", "[copy_batch]") {
  Arrays arrays;
  PieceRows within, behind;
  char* const begin = arrays.dst.data();
  for (std::size_t row = 0; row < 4; ++row) {
    REQUIRE(within.add(begin + 64 * row, begin + 64 * row + 32, 16));
    REQUIRE(behind.add(begin + 64 * row, begin + 64 * row + 3 * 64 + 16, 16));
  }
  CHECK_FALSE(within.sides_are_apart());
  CHECK(behind.sides_are_apart());
}
