// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel of short pieces, on the host.

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/impl/batch/PieceCopy.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace PieceCopies {

using namespace KokkosHostSpaces::Impl;

using Bytes = std::vector<unsigned char>;

// Heap memory at a multiple of 16 bytes.
struct Aligned {
  explicit Aligned(std::size_t bytes) : memory(bytes / sizeof(LongWord) + 1) {}
  unsigned char* data() { return reinterpret_cast<unsigned char*>(memory.data()); }
  std::vector<LongWord> memory;
};

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

}  // namespace PieceCopies
