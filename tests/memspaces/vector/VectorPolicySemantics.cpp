// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A VectorPolicy takes what a RangePolicy takes, with the same result: constructors, hints, index types,
// scans, reducers.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace khs = KokkosHostSpaces;

namespace {

using Execution = Kokkos::DefaultExecutionSpace;
using Memory    = Execution::memory_space;
using Values    = Kokkos::View<double*, Memory>;

template <class Policy>
constexpr bool is_vector_policy = false;
template <class... Properties>
constexpr bool is_vector_policy<khs::VectorPolicy<Properties...>> = true;

struct AddIndex {
  KOKKOS_FUNCTION void operator()(int i, long long& sum) const { sum += i; }
};

// Each step of a scan knows the sum of the indices before it.
struct Triangle {
  Kokkos::View<long long*, Memory> before;
  KOKKOS_FUNCTION void operator()(int i, long long& sum, bool last) const {
    if (last) before(i) = sum;
    sum += i;
  }
};

// Depends on all bits of an index.
template <class T>
struct Weigh {
  KOKKOS_FUNCTION void operator()(T i, std::uint64_t& sum) const {
    sum += 3 + std::uint64_t(i) * std::uint64_t(i);
  }
};

template <class T>
struct AddWeight {
  Kokkos::View<std::uint64_t, Memory> sum;
  KOKKOS_FUNCTION void operator()(T i) const {
    std::uint64_t weight = 0;
    Weigh<T>()(i, weight);
    Kokkos::atomic_add(&sum(), weight);
  }
};

}  // namespace

TEST_CASE("a VectorPolicy has the constructors of a RangePolicy and stays one", "[vector_policy]") {
  Execution const instance;
  khs::VectorPolicy const by_range(0, 10), by_chunks(0, 10, Kokkos::ChunkSize(4));
  khs::VectorPolicy on_instance(instance, 0, 10, Kokkos::ChunkSize(4));
  STATIC_REQUIRE(std::same_as<decltype(by_range), khs::VectorPolicy<> const>);
  STATIC_REQUIRE(std::same_as<decltype(by_chunks), khs::VectorPolicy<> const>);
  STATIC_REQUIRE(std::same_as<decltype(on_instance), khs::VectorPolicy<Execution>>);
  CHECK(on_instance.chunk_size() == 4);
  STATIC_REQUIRE(is_vector_policy<std::remove_cvref_t<decltype(on_instance.set_chunk_size(8))>>);
  CHECK(on_instance.set_chunk_size(8).chunk_size() == 8);

  namespace Hints = Kokkos::Experimental;
  on_instance.set_block_size(64);
  auto const light = Hints::require(on_instance, Hints::WorkItemProperty::HintLightWeight);
  STATIC_REQUIRE(is_vector_policy<std::remove_const_t<decltype(light)>>);
  CHECK(light.block_size() == 64);
  long long sum = 0;
  Kokkos::parallel_reduce(light, AddIndex(), sum);
  CHECK(sum == 45);
  khs::VectorPolicy<Execution> copy;
  copy = on_instance;
  Kokkos::parallel_reduce(khs::VectorPolicy(copy), AddIndex(), sum);
  CHECK(sum == 45);
}

TEST_CASE("a parallel_scan over a VectorPolicy is that of a RangePolicy", "[vector_policy]") {
  int const n = GENERATE(0, 1, 1000, 70001);
  Kokkos::View<long long*, Memory> const before("before", std::size_t(n));
  long long total = -1, expected = -1;  // Kokkos for CUDA leaves it alone where there is nothing
  Execution const instance;
  Kokkos::parallel_scan("as Kokkos", Kokkos::RangePolicy<Execution>(instance, 0, n),
                        Triangle{before}, expected);
  Kokkos::parallel_scan("scan", khs::VectorPolicy(instance, 0, n), Triangle{before});
  Kokkos::parallel_scan("with total", khs::VectorPolicy(instance, 0, n), Triangle{before}, total);
  instance.fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), before);
  long long wrong = 0;
  for (long long i = 0; i < n; ++i) wrong += host(i) != i * (i - 1) / 2;
  CHECK(wrong == 0);
  CHECK(total == expected);
  if (n > 0) CHECK(total == (n - 1LL) * n / 2);
}

TEMPLATE_TEST_CASE("indices may be of any type and range", "[vector_policy]", signed char,
                   unsigned char, short, unsigned short, int, unsigned, std::int64_t,
                   std::uint64_t) {
  using Limits        = std::numeric_limits<TestType>;
  TestType const step = TestType(sizeof(TestType) == 1 ? 100 : 30000);
  TestType const begin =
      GENERATE(Limits::min(), TestType(0), TestType(7), TestType(Limits::max() - TestType(110)));
  TestType const end =
      begin > Limits::max() - step ? TestType(Limits::max() - 1) : TestType(begin + step);
  CAPTURE(begin, end);
  using Policy           = khs::VectorPolicy<Execution, Kokkos::IndexType<TestType>>;
  std::uint64_t expected = 0, sum = 0;
  for (TestType i = begin; i < end; ++i) Weigh<TestType>()(i, expected);
  Kokkos::parallel_reduce(Policy(begin, end), Weigh<TestType>(), sum);
  CHECK(sum == expected);
  Kokkos::View<std::uint64_t, Memory> const added("added");
  Kokkos::parallel_for(Policy(begin, end), AddWeight<TestType>{added});
  Kokkos::deep_copy(sum, added);
  CHECK(sum == expected);
}

namespace {

// 1 to 1013, and one zero.
struct FillWith {
  Values a;
  int zero;
  KOKKOS_FUNCTION void operator()(int i) const {
    a(i) = i == zero ? 0 : (i % 1013) * 79 % 1013 + 1;
  }
};

template <class Reducer>
struct Include {
  Values a;
  KOKKOS_FUNCTION void operator()(int i, typename Reducer::value_type& value) const {
    using Value = typename Reducer::value_type;
    if constexpr (requires { value.max_loc; })
      Reducer(value).join(value, Value{a(i), a(i), i, i});
    else if constexpr (requires { value.max_val; })
      Reducer(value).join(value, Value{a(i), a(i)});
    else if constexpr (requires { value.loc; })
      Reducer(value).join(value, Value{a(i), i});
    else
      Reducer(value).join(value, Value(a(i)));
  }
};

template <class T>
bool same(T const& x, T const& y) {
  if constexpr (requires { x.max_loc; })
    return x.min_val == y.min_val && x.max_val == y.max_val && x.min_loc == y.min_loc &&
           x.max_loc == y.max_loc;
  else if constexpr (requires { x.max_val; })
    return x.min_val == y.min_val && x.max_val == y.max_val;
  else if constexpr (requires { x.loc; })
    return x.val == y.val && x.loc == y.loc;
  else
    return x == y;
}

}  // namespace

TEMPLATE_TEST_CASE("a reducer gives the same over a VectorPolicy and over a RangePolicy",
                   "[vector_policy]", Kokkos::Sum<double>, Kokkos::Prod<unsigned>,
                   Kokkos::Min<float>, Kokkos::Max<double>, Kokkos::LAnd<int>, Kokkos::LOr<int>,
                   Kokkos::BAnd<short>, Kokkos::BOr<unsigned char>, Kokkos::MinMax<double>,
                   (Kokkos::MinMaxFirstLastLoc<double, int>), (Kokkos::MinFirstLoc<double, int>),
                   (Kokkos::MaxFirstLoc<double, int>)) {
  int const n    = GENERATE(0, 1, 33, 4097, 100003);
  int const zero = GENERATE(-1, 0, 77777);
  Values const a("a", std::size_t(n));
  Kokkos::parallel_for(n, FillWith{a, zero});
  using Value = typename TestType::value_type;
  Value by_range, by_vector;
  Execution const instance;
  Include<TestType> const functor{a};
  Kokkos::parallel_reduce(Kokkos::RangePolicy(instance, 0, n), functor, TestType(by_range));
  Kokkos::parallel_reduce(khs::VectorPolicy(instance, 0, n), functor, TestType(by_vector));
  CHECK(same(by_range, by_vector));
}

TEST_CASE("a VectorPolicy reduces to several results at once", "[vector_policy]") {
  int const n = GENERATE(1, 33, 100003);
  Values const a("a", std::size_t(n));
  Kokkos::parallel_for(n, FillWith{a, -1});
  double sum = 0, smallest = 0, sum_by_range = 0, smallest_by_range = 0;
  auto const functor = KOKKOS_LAMBDA(int i, double& total, double& least) {
    total += a(i);
    least = a(i) < least ? a(i) : least;
  };
  Kokkos::parallel_reduce(Kokkos::RangePolicy(Execution(), 0, n), functor, sum_by_range,
                          Kokkos::Min<double>(smallest_by_range));
  Kokkos::parallel_reduce(khs::VectorPolicy(Execution(), 0, n), functor, sum,
                          Kokkos::Min<double>(smallest));
  CHECK(sum == sum_by_range);
  CHECK(smallest == smallest_by_range);
}

namespace {

// Only the host makes these, since the functor has an init.
struct Extent {
  int first, last;
  Extent() : first(-1), last(-1) {}
};

struct Measure {
  using value_type = Extent;
  KOKKOS_FUNCTION void operator()(int i, Extent& e) const { include(e, i, i); }
  KOKKOS_FUNCTION void init(Extent& e) const {
    e.first = 1 << 30;
    e.last  = -1;
  }
  KOKKOS_FUNCTION void join(Extent& e, Extent const& other) const {
    include(e, other.first, other.last);
  }

 private:
  KOKKOS_FUNCTION void include(Extent& e, int first, int last) const {
    e.first = first < e.first ? first : e.first;
    e.last  = last > e.last ? last : e.last;
  }
};

}  // namespace

TEST_CASE("a device need not make the values that a functor initialises", "[vector_policy]") {
  int const n = GENERATE(1, 5000, 200003);
  Extent extent;
  Kokkos::parallel_reduce(khs::VectorPolicy(Execution(), 0, n), Measure(), extent);
  CHECK(extent.first == 0);
  CHECK(extent.last == n - 1);
}
