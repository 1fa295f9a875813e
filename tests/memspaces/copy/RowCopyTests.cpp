// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/copy/RowCopy.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <vector>

namespace {

using namespace KokkosHostSpaces::Impl;

struct alignas(16) Pair {
  double parts[2];
};

}  // namespace

TEST_CASE("a copy of rows moves what it shall, and nothing else", "[copy_plan]") {
  // So that threads have several words each: planes of 5 rows of 64 bytes, dense and with gaps.
  constexpr std::size_t planes = 40000, rows = 5, run = 8;
  constexpr std::size_t extents[] = {planes, rows, run};
  constexpr std::size_t dense[] = {rows * run, run, 1}, gaps[] = {2 * rows * run + 6, run + 2, 1};
  for (bool const to_gaps : {false, true}) {
    std::vector<Pair> from(planes * gaps[0] / 2), to(from.size());
    auto* const src = from.front().parts;
    auto* const dst = to.front().parts;
    for (std::size_t i = 0; i < 2 * from.size(); ++i) src[i] = double(i + 1);
    auto const& of_dst = to_gaps ? gaps : dense;
    auto const& of_src = to_gaps ? dense : gaps;
    RowCopy const copy(dst, src, make_copy_plan(sizeof(double), 3, extents, of_dst, of_src));
    REQUIRE(copy.threads() == RowCopy::most_threads);
    for (std::uint32_t thread = 0; thread < copy.threads(); ++thread) copy(thread);
    std::size_t wrong = 0, written = 0;
    for (std::size_t p = 0; p < planes; ++p)
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t i = 0; i < run; ++i)
          wrong += dst[p * of_dst[0] + r * of_dst[1] + i] != src[p * of_src[0] + r * of_src[1] + i];
    for (std::size_t i = 0; i < 2 * to.size(); ++i) written += dst[i] != 0;
    CHECK(wrong == 0);
    CHECK(written == planes * rows * run);
  }
}
