// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel for short pieces, on the host.

#include <KokkosHostSpaces/impl/batch/PieceCopy.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace PieceCopies {

using namespace KokkosHostSpaces::Impl;

TEST_CASE("the kernel copies pieces of any alignment and length, any number of them", "[batch]") {
  std::mt19937 random(7);
  for (std::size_t const most : {std::size_t(200), 5 * most_bytes_of_part / 2})
    for (std::size_t const count : {1, 64, 65, 300, 2500}) {
      std::size_t const slot = most + 64;
      std::vector<LongWord> src_words(slot * count / 16 + 1), dst_words(src_words.size());
      char* const src = reinterpret_cast<char*>(src_words.data());
      char* const dst = reinterpret_cast<char*>(dst_words.data());
      std::generate_n(src, slot * count, [&] { return char(random()); });
      std::vector<char> expected(slot * count, 0);
      std::vector<Piece> pieces;
      for (std::size_t i = 0; i < count; ++i) {
        std::size_t const step = std::size_t(1) << random() % 5, to = step * (random() % 3),
                          from = step * (random() % 3), bytes = 1 + random() % most;
        pieces.push_back({dst + slot * i + to, src + slot * i + from, bytes});
        std::copy_n(pieces.back().src, bytes, expected.begin() + std::ptrdiff_t(slot * i + to));
      }
      Kokkos::DefaultHostExecutionSpace const instance;
      run_piece_copies(instance, pieces);
      instance.fence();
      CHECK(std::equal(expected.begin(), expected.end(), dst));
    }
}

}  // namespace PieceCopies
