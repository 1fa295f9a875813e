// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops over parts of Views: whole rows, which begin anywhere.

#include <KokkosHostSpaces.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <catch2/catch_template_test_macros.hpp>

namespace StreamedSubviews {

namespace khs = KokkosHostSpaces;

namespace {

constexpr int rows = 100, width = 13, depth = 3;

// The next row, twice.
template <int Cut>
struct Next {
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, U const& u, V const& v) const {
    v(i, j) = 2 * u(i + (Cut == 0), j + (Cut == 1));
  }
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k, U const& u,
                                  V const& v) const {
    v(i, j, k) = 2 * u(i + (Cut == 0), j, k + (Cut == 2));
  }
};

template <int Rank, class LayoutType>
struct Kind {
  using Layout              = LayoutType;
  static constexpr int rank = Rank;
  static constexpr int cut  = std::is_same_v<Layout, Kokkos::LayoutRight> ? 0 : Rank - 1;
  static constexpr int row  = Rank == 2 ? width : width * depth;

  static auto make() {
    if constexpr (Rank == 3 && cut == 0)
      return Kokkos::View<float***, Layout, khs::PinnedSpace>("array", rows, width, depth);
    else if constexpr (Rank == 3)
      return Kokkos::View<float***, Layout, khs::PinnedSpace>("array", depth, width, rows);
    else if constexpr (cut == 0)
      return Kokkos::View<float**, Layout, khs::PinnedSpace>("array", rows, width);
    else
      return Kokkos::View<float**, Layout, khs::PinnedSpace>("array", width, rows);
  }

  template <class View>
  static auto part(View const& view, int first, int last) {
    auto const some = std::pair(first, last);
    if constexpr (Rank == 3 && cut == 0)
      return Kokkos::subview(view, some, Kokkos::ALL, Kokkos::ALL);
    else if constexpr (Rank == 3)
      return Kokkos::subview(view, Kokkos::ALL, Kokkos::ALL, some);
    else if constexpr (cut == 0)
      return Kokkos::subview(view, some, Kokkos::ALL);
    else
      return Kokkos::subview(view, Kokkos::ALL, some);
  }
};

using Right = Kokkos::LayoutRight;
using Left  = Kokkos::LayoutLeft;

}  // namespace

TEMPLATE_TEST_CASE("whole rows of a View are a View like others, wherever they begin", "[streamed]",
                   (Kind<2, Right>), (Kind<2, Left>), (Kind<3, Right>), (Kind<3, Left>)) {
  constexpr int first = 3, last = 90, to = 5, count = last - first;
  for (khs::Transport const transport : {khs::Transport::staged, khs::Transport::zero_copy}) {
    for (std::int64_t const chunk_rows : {0, 1, 7}) {
      auto const a = TestType::make(), b = TestType::make();
      for (std::size_t e = 0; e < a.size(); ++e) a.data()[e] = float(e);
      khs::StreamOptions<> const options{.transport = transport, .chunk_rows = chunk_rows};
      std::int64_t lower[TestType::rank] = {}, upper[TestType::rank];
      for (int d = 0; d < TestType::rank; ++d) upper[d] = std::int64_t(a.extent(std::size_t(d)));
      upper[TestType::cut] = count - 1;
      khs::streamed_for("next row", options, khs::Box<TestType::rank>(lower, upper),
                        Next<TestType::cut>(),
                        khs::read(TestType::part(a, first, last), khs::halo(1)),
                        khs::write(TestType::part(b, to, to + count)))
          .fence();
      int wrong = 0;
      for (int e = 0; e < rows * TestType::row; ++e) {
        int const line       = e / TestType::row;
        bool const is_inside = line >= to && line < to + count - 1;
        float const before   = is_inside ? float(e - (to - first - 1) * TestType::row) : 0;
        wrong += b.data()[e] != 2 * before;
      }
      CAPTURE(int(transport), chunk_rows);
      CHECK(wrong == 0);
    }
  }
}

}  // namespace StreamedSubviews
