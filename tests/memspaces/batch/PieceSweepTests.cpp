// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The quick way for batches: what it takes has nothing to refuse and nothing to merge.

#include "CopyBatchCases.hpp"

#include <KokkosHostSpaces/impl/batch/PieceSweep.hpp>

#include <cstdint>
#include <numeric>
#include <random>
#include <utility>

namespace PieceSweeps {

using namespace KokkosHostSpaces::Impl;

// Nobody looks into the memory.
struct Piece {
  std::uintptr_t dst, src;
  std::size_t bytes;
};
constexpr std::uintptr_t there = std::uintptr_t(1) << 40, here = std::uintptr_t(1) << 41;

char* at(std::uintptr_t address) { return reinterpret_cast<char*>(address); }

struct Swept {
  explicit Swept(std::vector<Piece> const& pieces) : ends(pieces.size()), lengths(pieces.size()) {
    if (pieces.empty()) return;
    PieceSweep sweep(at(pieces[0].dst), at(pieces[0].src), ends.data(), lengths.data());
    for (Piece const& piece : pieces)
      if (!sweep.add(at(piece.dst), at(piece.src), piece.bytes)) return;
    found = sweep.finish();
  }
  bool is_plain() const { return found.count > 0; }

  std::vector<NearEnds> ends;
  std::vector<std::uint32_t> lengths;
  NearPieces found{};
};

bool meet(std::uintptr_t a, std::size_t a_bytes, std::uintptr_t b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

// What nobody may miss, by comparing each with each.
bool has_conflict_or_neighbours(std::vector<Piece> const& pieces) {
  for (Piece const& a : pieces)
    for (Piece const& b : pieces) {
      if (meet(a.dst, a.bytes, b.src, b.bytes)) return true;
      if (&a != &b && meet(a.dst, a.bytes, b.dst, b.bytes)) return true;
      if (a.dst + a.bytes == b.dst && a.src + a.bytes == b.src) return true;
    }
  return false;
}

bool is_told_as_it_is(Swept const& swept, std::vector<Piece> const& pieces) {
  NearPieces const& found = swept.found;
  std::size_t longest     = 0;
  std::uintptr_t bits     = 0;
  bool equally_long       = true;
  if (!swept.is_plain()) return false;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (found.dst + found.ends[i].dst != at(pieces[i].dst)) return false;
    if (found.src + found.ends[i].src != at(pieces[i].src)) return false;
    if (found.lengths[i] != pieces[i].bytes) return false;
    longest = std::max(longest, pieces[i].bytes);
    bits |= pieces[i].dst | pieces[i].src;
    equally_long = equally_long && pieces[i].bytes == pieces[0].bytes;
  }
  return found.count == pieces.size() && found.longest == longest &&
         found.are_equally_long == equally_long &&
         std::countr_zero(found.alignment()) == std::countr_zero(bits);
}

// With gaps between destinations, in no regular order.
std::vector<Piece> scattered(std::size_t count, std::size_t bytes) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < count; ++i)
    pieces.push_back({there + 2 * bytes * i, here + 2 * bytes * (i ^ (i >> 1)), bytes});
  return pieces;
}

TEST_CASE("pieces with gaps are swept, few or many, ascending or not, of one length or several",
          "[piece_sweep]") {
  std::mt19937 random(5);
  for (std::size_t const count : {1, 2, 3, 7, 8, 64, 65, 1000, 65536}) {
    INFO(count << " pieces");
    auto pieces = scattered(count, 48);
    CHECK(is_told_as_it_is(Swept(pieces), pieces));
    for (Piece& piece : pieces) std::swap(piece.dst, piece.src);
    CHECK(is_told_as_it_is(Swept(pieces), pieces));
    for (std::size_t i = 0; i < count; i += 3) pieces[i].bytes = 40;
    CHECK(is_told_as_it_is(Swept(pieces), pieces));
    std::shuffle(pieces.begin(), pieces.end(), random);
    CHECK(is_told_as_it_is(Swept(pieces), pieces));
  }
}

TEST_CASE("long pieces with gaps are swept wherever they begin", "[piece_sweep]") {
  std::mt19937 random(6);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < 1000; ++i)
    pieces.push_back({here + 8192 * (i ^ (i >> 1)) + random() % 500, there + 5000 * i,
                      std::size_t(4000 + random() % 90)});
  CHECK(is_told_as_it_is(Swept(pieces), pieces));
  pieces[400].dst = pieces[700].dst + pieces[700].bytes - 1;
  CHECK_FALSE(Swept(pieces).is_plain());
}

TEST_CASE("one piece that is not plain is seen wherever it is", "[piece_sweep]") {
  for (std::size_t const count : {5, 300})
    for (std::size_t const i : {std::size_t(0), std::size_t(1), count / 2, count - 1}) {
      auto const spoil = [&](auto const& change) {
        auto pieces = scattered(count, 64);
        REQUIRE(Swept(pieces).is_plain());
        change(pieces[i], pieces[i == 0 ? 1 : i - 1]);
        return !Swept(pieces).is_plain();
      };
      INFO("piece " << i << " of " << count);
      CHECK(spoil([](Piece& piece, Piece const&) { piece.bytes = 0; }));
      CHECK(spoil([](Piece& piece, Piece const&) { piece.dst = 0; }));
      CHECK(spoil([](Piece& piece, Piece const&) { piece.src = 0; }));
      CHECK(spoil([](Piece& piece, Piece const&) { piece.bytes = std::size_t(1) << 31; }));
      CHECK(spoil([](Piece& piece, Piece const&) { piece.dst += std::uintptr_t(1) << 32; }));
      CHECK(spoil([](Piece& piece, Piece const&) { piece.src -= std::uintptr_t(1) << 33; }));
      CHECK(spoil([](Piece& piece, Piece const& other) { piece.dst = other.dst; }));
      CHECK(spoil([](Piece& piece, Piece const& other) { piece.dst = other.dst + 8; }));
      CHECK(spoil([](Piece& piece, Piece const& other) { piece.src = other.dst + 8; }));
      CHECK(spoil([](Piece& piece, Piece const&) { piece.src = piece.dst; }));
    }
}

TEST_CASE("that a batch was plain says nothing of the next one", "[piece_sweep]") {
  std::mt19937 random(8);
  auto pieces = scattered(100, 64);
  for (Piece& piece : pieces) std::swap(piece.dst, piece.src);
  std::shuffle(pieces.begin(), pieces.end(), random);
  for (int time = 0; time < 3; ++time) {
    CHECK(is_told_as_it_is(Swept(pieces), pieces));
    auto others      = pieces;
    others[40].bytes = 200;
    CHECK_FALSE(Swept(others).is_plain());
    others         = pieces;
    others[40].dst = others[41].dst;
    CHECK_FALSE(Swept(others).is_plain());
    std::swap(pieces[40].dst, pieces[41].dst);
    CHECK(is_told_as_it_is(Swept(pieces), pieces));
    others = pieces;
    for (Piece& piece : others) piece.dst += 4096;
    CHECK(is_told_as_it_is(Swept(others), others));
    for (Piece& piece : others) piece.src = piece.dst + 64;  // as far from each other as before
    CHECK_FALSE(Swept(others).is_plain());
  }
}

TEST_CASE("pieces up to 2 GiB apart are swept", "[piece_sweep]") {
  std::size_t const far = std::size_t(100) << 20;
  for (bool const falls : {false, true}) {
    auto const pieces = [&](std::size_t last, std::size_t bytes) {
      std::vector<Piece> made;
      for (std::size_t i = 0; i < 20; ++i)
        made.push_back({there + far * i, here + far * (i ^ (i >> 1)) / 2, bytes});
      made.push_back({there + last, here + 19 * far, 64});
      if (falls) std::reverse(made.begin(), made.end());
      return made;
    };
    CHECK(is_told_as_it_is(Swept(pieces(20 * far, far / 2)), pieces(20 * far, far / 2)));
    CHECK_FALSE(Swept(pieces(19 * far + far / 2 - 1, far / 2)).is_plain());
    CHECK_FALSE(Swept(pieces(22 * far, 64)).is_plain());
  }
  // Steps that look as if they ascended to who counts by 32 bits; the last one meets the second.
  std::vector<Piece> made;
  for (int const at : {0, 15, -15, -2, 13, 15})
    made.push_back({there + std::uintptr_t(at * 100000000ll), here + 1000 * made.size(), 64});
  CHECK_FALSE(Swept(made).is_plain());
  made.back().dst += 1 << 26;
  CHECK(is_told_as_it_is(Swept(made), made));
  // Where null is in reach, nobody looks for it.
  for (Piece& piece : made) piece.dst = piece.dst - there + (std::uintptr_t(1) << 31);
  CHECK_FALSE(Swept(made).is_plain());
}

TEST_CASE("regular rows are left to 2-D copies, and shuffled neighbours to who merges them",
          "[piece_sweep]") {
  std::size_t const few  = copy_thresholds.regular_pieces,
                    many = copy_thresholds.regular_pieces_not_by_kernel;
  auto const rows        = [](std::size_t count, std::size_t begin, std::size_t number) {
    auto pieces = scattered(count, 64);
    for (std::size_t k = 0; k < number; ++k)
      pieces[begin + k].src = here + (std::size_t(1) << 24) + 512 * k;
    return Swept(pieces).is_plain();
  };
  for (std::size_t begin = 0; begin < 10; ++begin) {
    INFO("from " << begin);
    CHECK_FALSE(rows(20, begin, few));
    CHECK(rows(20, begin, few - 1));
  }
  for (std::size_t begin = 0; begin < 150; ++begin) {
    INFO("from " << begin);
    CHECK_FALSE(rows(300, begin, many));
    CHECK(rows(300, begin, many - 1));
  }
  auto pieces    = scattered(100, 64);
  pieces[70].dst = pieces[20].dst + 64;
  pieces[70].src = pieces[20].src + 64;
  CHECK_FALSE(Swept(pieces).is_plain());
}

TEST_CASE("what is swept has no conflict and no neighbours, at any addresses", "[piece_sweep]") {
  unsigned const seed = 20251122;
  std::mt19937 random(seed);
  int taken = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    INFO("seed " << seed << ", round " << round);
    std::size_t const count = 1 + random() % 12, grain = std::size_t(1) << random() % 5;
    std::size_t const room   = 10 + random() % 300;
    std::uintptr_t const src = there + random() % 3 * grain * room / 2 * 2;
    std::vector<Piece> pieces;
    std::uintptr_t next = there;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t const bytes = grain * (1 + random() % 6);
      if (random() % 8 == 0) next = there + grain * (random() % room);
      pieces.push_back({next, src + grain * (random() % room), bytes});
      if (random() % 8 == 0 && i > 0) pieces[i].src = pieces[i - 1].src + pieces[i - 1].bytes;
      next += bytes + grain * (random() % 3);
    }
    if (random() % 2 == 0) std::shuffle(pieces.begin(), pieces.end(), random);
    bool const is_bad = has_conflict_or_neighbours(pieces);
    Swept const swept(pieces);
    if (swept.is_plain()) {
      REQUIRE_FALSE(is_bad);
      REQUIRE(is_told_as_it_is(swept, pieces));
    }
    taken += swept.is_plain();
    refused += is_bad;
  }
  CHECK((taken > 2000 && refused > 2000));
}

TEST_CASE("a few swept pieces are one call, others are left", "[piece_sweep]") {
  CopyBatches::Memory memory(1 << 20);
  DeviceWork::Stream stream;
  auto const copies = [&](std::size_t count, std::size_t bytes) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < count; ++i)
      pieces.push_back({reinterpret_cast<std::uintptr_t>(memory.device) + 2 * bytes * i,
                        reinterpret_cast<std::uintptr_t>(memory.host) + 3 * bytes * (i ^ (i >> 1)),
                        bytes});
    Swept const swept(pieces);
    REQUIRE(swept.is_plain());
    bool const taken = copy_at_once(swept.found, stream.get());
    Backend::Driver::fence(stream.get());
    if (!taken) return false;
    for (Piece const& piece : pieces)
      REQUIRE(std::equal(at(piece.src), at(piece.src) + piece.bytes, at(piece.dst)));
    return true;
  };
  CopyBatches::Calls const before;
  CHECK(copies(4, 4096));
  CHECK(copies(PieceSweep::most_of_call, 64));
  CHECK_FALSE(copies(1, 64));
  CHECK_FALSE(copies(PieceSweep::most_of_call + 1, 64));
  CopyBatches::Calls const after;
  CHECK(after.batches == before.batches + 2);
  CHECK(after.copies == before.copies);
}

}  // namespace PieceSweeps
