// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How a sum is dealt out to the threads of a device, seen from the host: which blocks, which elements
// each thread takes, and what it may ask for before earlier work is done.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_random.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace khs = KokkosHostSpaces;

namespace {

std::uint64_t some_items() {
  // Where shapes change, and anything.
  return GENERATE(0ULL, 1ULL, 2ULL * 32, 2ULL * 1024, 1ULL << 14, 1ULL << 16, 264ULL * 512,
                  1ULL << 19, 264ULL * 1024, ~0ULL - 1, take(60, random(0ULL, 1ULL << 40)),
                  take(60, random(0ULL, 1ULL << 20)), take(60, random(0ULL, 1ULL << 12)));
}

struct Itself {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a) const {
    return a;
  }
};

template <class T>
using OnHost = Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Sum>
constexpr bool asks_early = requires(Sum const sum) {
  sum.prefetch_share(khs::Impl::GridStride());
};
template <class Space>
using SumIn = khs::ElementSum<Itself, Kokkos::View<double const*, Space>>;

}  // namespace

TEST_CASE("the shape of a sum follows from its items, and finds work for all", "[vector_policy]") {
  std::uint64_t const n = some_items() + GENERATE(0U, 1U);
  unsigned const most   = GENERATE(32U, 64U, 256U, 512U, 1024U);
  CAPTURE(n, most);
  auto const [blocks, threads] = khs::Impl::shape_of_sum(n, most);
  std::uint64_t const all      = std::uint64_t(blocks) * threads;
  CHECK(std::has_single_bit(threads));
  CHECK(threads >= 32);
  CHECK(threads <= most);
  CHECK(blocks >= 1);
  CHECK(all <= 264 * 1024);
  CHECK((blocks == 1 || all - threads < n));
  CHECK((blocks == 1) == (n <= 2 * most));
  // No more than one for each thread, so that it can ask for that before it may read it.
  CHECK((blocks == 1 || all >= std::min<std::uint64_t>(n, 264 * 512)));
}

TEMPLATE_TEST_CASE("the threads of a sum take each element once", "[vector_policy]", char, float,
                   double, Kokkos::complex<double>) {
  std::size_t const n =
      GENERATE(0, 1, 3, 2047, 2049, 8191, 8193, 65541, 540001, 1100003, take(5, random(2, 300000)));
  std::size_t const skip = GENERATE(0, 1);  // is not at a multiple of 16 bytes, but for the last
  unsigned const most    = GENERATE(32U, 512U, 1024U);
  CAPTURE(n, skip, most);
  std::vector<TestType> numbers(n + skip);
  for (std::size_t i = 0; i < n + skip; ++i)
    numbers[i] = TestType(int(i * 7 % 13));  // floats count to 2^24
  OnHost<TestType> const a(numbers.data() + skip, n);
  khs::ElementSum const sum(Itself(), a);

  constexpr int length            = khs::Impl::pack_length<TestType>;
  khs::Impl::PackSplit const deal = khs::Impl::deal<length>(n, true, a.data());
  auto const [blocks, threads]    = khs::Impl::shape_of_sum(deal.packs + deal.rest, most);
  using Total = std::conditional_t<std::is_same_v<TestType, char>, long, TestType>;
  Total total(0), expected(0);
  for (std::uint64_t k = 0; k < std::uint64_t(blocks) * threads; ++k) {
    Total part(0);
    sum.add_share(khs::Impl::GridStride{k, std::uint64_t(blocks) * threads}, part);
    total += part;
  }
  for (std::size_t i = 0; i < n; ++i) expected += Total(a(i));
  CHECK(total == expected);
}

TEST_CASE("sums ask early for memory of the device, and for no other", "[vector_policy]") {
  STATIC_REQUIRE(!asks_early<SumIn<Kokkos::HostSpace>>);
  STATIC_REQUIRE(!asks_early<SumIn<Kokkos::SharedSpace>>);
  STATIC_REQUIRE(!asks_early<SumIn<khs::PinnedSpace>>);
  STATIC_REQUIRE(!asks_early<SumIn<khs::MappedSpace>>);
  STATIC_REQUIRE(!asks_early<SumIn<khs::WriteCombinedSpace>>);
#ifdef KOKKOS_ENABLE_CUDA
  using Device = Kokkos::CudaSpace;
  // Unless the host reaches it, too.
  constexpr bool alone = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Device>::accessible;
  STATIC_REQUIRE(asks_early<SumIn<Device>> == alone);
  STATIC_REQUIRE(asks_early<SumIn<Kokkos::Device<Kokkos::Cuda, Device>>> == alone);
  STATIC_REQUIRE(!asks_early<SumIn<Kokkos::CudaHostPinnedSpace>>);
  using Both =
      khs::ElementSum<Itself, Kokkos::View<double*, Device>, Kokkos::View<double*, Device>>;
  using Mixed = khs::ElementSum<Itself, Kokkos::View<double*, Device>,
                                Kokkos::View<double*, khs::MappedSpace>>;
  STATIC_REQUIRE(asks_early<Both> == alone);
  STATIC_REQUIRE(!asks_early<Mixed>);
#endif
}
