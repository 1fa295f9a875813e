// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How the threads of a device split a vector, run on the host: each element once.

#include "../KokkosTest.hpp"

namespace {

struct Itself {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a) const {
    return a;
  }
};

struct AddOne {
  KOKKOS_FUNCTION int operator()(int a) const { return a + 1; }
};

template <class T>
using OnHost = Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace

TEMPLATE_TEST_CASE("the threads of a sum take each element once", "[parallel_kernels]", char, float,
                   double, Kokkos::complex<double>) {
  std::size_t const n =
      GENERATE(0, 1, 3, 2047, 2049, 8191, 8193, 65541, 540001, 1100003, take(5, random(2, 300000)));
  std::size_t const skip = GENERATE(0, 1);  // not at a multiple of 16 bytes, except for complex
  unsigned const most    = GENERATE(32U, 512U, 1024U);
  CAPTURE(n, skip, most);
  std::vector<TestType> numbers(n + skip);
  for (std::size_t i = 0; i < n + skip; ++i)
    numbers[i] = TestType(int(i * 7 % 13));  // small enough for exact sums of floats
  OnHost<TestType> const a(numbers.data() + skip, n);
  khs::Impl::PackSum const sum(Itself(), a);

  constexpr int length         = khs::Impl::pack_length<TestType>;
  auto const split             = khs::Impl::split_into_packs<length>(n, true, a.data());
  auto const [blocks, threads] = khs::Impl::shape_of_sum(split.packs + split.rest, most);
  CHECK(threads <= most);
  std::uint64_t const all = std::uint64_t(blocks) * threads;
  using Total             = std::conditional_t<std::is_same_v<TestType, char>, long, TestType>;
  Total total(0), expected(0);
  for (std::uint64_t k = 0; k < all; ++k) {
    Total part(0);
    sum.add_share(khs::Impl::GridStride{k, all}, part);
    total += part;
  }
  for (std::size_t i = 0; i < n; ++i) expected += Total(a(i));
  CHECK(total == expected);
}

TEST_CASE("consecutive launches of a map do each element once", "[parallel_kernels]") {
  constexpr int N           = 4;
  std::uint64_t const packs = GENERATE(0u, 1u, 7u, 8u, 9u), rest = GENERATE(0u, 1u, 3u, 21u);
  std::uint32_t const most = GENERATE(4u, 8u, 100u);
  if (packs > 0 && rest >= N) return;
  khs::Impl::PackSplit const split{packs, rest};
  alignas(16) int done[64] = {};
  khs::Impl::PackMap<N, AddOne, int, int> const all(done, khs::Impl::InputsOf<int>(done), AddOne());
  std::uint64_t const items = std::max(packs, rest);
  for (std::uint64_t first = 0; first < items; first += most) {
    auto const count = std::uint32_t(std::min<std::uint64_t>(items - first, most));
    auto const part  = all.part(split, first, count);
    for (std::uint32_t k = 0; k < std::max(2 * count, khs::Impl::warp_size); ++k) part.do_item(k);
  }
  for (std::uint64_t i = 0; i < 64; ++i) CHECK(done[i] == int(i < split.elements(N)));
}
