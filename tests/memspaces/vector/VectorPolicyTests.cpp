// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// parallel_for and parallel_reduce over a VectorPolicy: each index once, any functor, any result.

#include <KokkosHostSpaces.hpp>

#include <Kokkos_Graph.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_random.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <algorithm>
#include <limits>
#include <random>

namespace khs = KokkosHostSpaces;

namespace {

using Execution = Kokkos::DefaultExecutionSpace;
using Memory    = Execution::memory_space;

template <class T>
struct CountVisits {
  Kokkos::View<int*, Memory> visits;
  T begin;
  KOKKOS_FUNCTION void operator()(T i) const {
    Kokkos::atomic_inc(&visits(std::size_t(i - begin) + 1));
  }
};

struct Tag {};
struct Tagged {
  Kokkos::View<int*, Memory> c;
  KOKKOS_FUNCTION void operator()(Tag, int i) const { c(i) = 2 * i; }
  KOKKOS_FUNCTION void operator()(Tag, int i, long long& sum) const { sum += c(i); }
};

template <class T>
struct AddElement {
  Kokkos::View<T*, Memory> a;
  KOKKOS_FUNCTION void operator()(int i, T& sum) const { sum += a(i); }
};

// Of numbers from -1000 to 1000.
template <class T>
Kokkos::View<T*, Memory> random_numbers(int n) {
  std::minstd_rand random(unsigned(n) + 1);
  Kokkos::View<T*, Memory> const a("a", std::size_t(n));
  auto const host = Kokkos::create_mirror_view(a);
  for (int i = 0; i < n; ++i) host(i) = T(int(random() % 2001) - 1000);
  Kokkos::deep_copy(a, host);
  return a;
}

int some_length() {
  return GENERATE(0, 1, 2, 31, 33, 1024, 4096, 4097, 65536, 131073, 600000,
                  take(4, random(2, 200000)));
}

}  // namespace

TEMPLATE_TEST_CASE("a parallel_for over a VectorPolicy visits each index once", "[vector_policy]",
                   int, unsigned, long long, short) {
  int const n = std::min(
      some_length(), int(std::min<long long>(1000000, std::numeric_limits<TestType>::max() - 100)));
  TestType const begin = TestType(GENERATE(0, 57));
  Kokkos::View<int*, Memory> const visits("visits", std::size_t(n) + 2);
  Execution const instance;
  Kokkos::parallel_for("visit",
                       khs::VectorPolicy<Execution, Kokkos::IndexType<TestType>>(
                           instance, begin, TestType(begin + TestType(n))),
                       CountVisits<TestType>{visits, begin});
  instance.fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), visits);
  int wrong       = host(0) + host(n + 1);
  for (int i = 1; i <= n; ++i) wrong += host(i) != 1;
  CHECK(wrong == 0);
}

TEST_CASE("a VectorPolicy begins at negative indices, and takes tags and block sizes",
          "[vector_policy]") {
  Kokkos::View<int*, Memory> const visits("visits", 1002), c("c", 1000);
  using Bounded = khs::VectorPolicy<Execution, Kokkos::IndexType<int>, Kokkos::LaunchBounds<1024>>;
  Kokkos::parallel_for(Bounded(-500, 500).set_block_size(1024), CountVisits<int>{visits, -500});
  long long sum = 0;
  Kokkos::parallel_for(khs::VectorPolicy<Execution, Tag>(0, 1000).set_block_size(64), Tagged{c});
  Kokkos::parallel_reduce(khs::VectorPolicy<Execution, Tag>(0, 1000), Tagged{c}, sum);
  CHECK(sum == 999 * 1000);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), visits);
  CHECK(std::count(host.data(), host.data() + 1002, 1) == 1000);
}

TEMPLATE_TEST_CASE("a parallel_reduce over a VectorPolicy adds each index once", "[vector_policy]",
                   double, float, int, long long, short, Kokkos::complex<double>) {
  int const n  = some_length();
  auto const a = random_numbers<TestType>(n);
  Execution const instance;
  khs::VectorPolicy const policy(instance, 0, n);
  TestType expected(0), sum(77);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  for (int i = 0; i < n; ++i) expected += host(i);
  Kokkos::parallel_reduce("to a number", policy, AddElement<TestType>{a}, sum);
  CHECK(sum == expected);

  Kokkos::View<TestType, Memory> const on_device("on_device");
  Kokkos::View<TestType, Kokkos::HostSpace> const on_host("on_host");
  Kokkos::View<TestType, khs::MappedSpace> const mapped("mapped");
  Kokkos::parallel_reduce("to the device", policy, AddElement<TestType>{a}, on_device);
  Kokkos::parallel_reduce("to the host", policy, AddElement<TestType>{a}, on_host);
  Kokkos::parallel_reduce("to mapped memory", policy, AddElement<TestType>{a}, mapped);
  instance.fence();
  Kokkos::deep_copy(sum, on_device);
  CHECK(sum == expected);
  CHECK(on_host() == expected);
  CHECK(mapped() == expected);
}

namespace {

// The mean of a and the largest, with functions of its own for all steps.
struct Mean {
  struct Parts {
    double sum, count;
  };
  using value_type = Parts;
  Kokkos::View<double*, Memory> a;
  KOKKOS_FUNCTION void operator()(int i, Parts& p) const { join(p, {a(i), 1}); }
  KOKKOS_FUNCTION void init(Parts& p) const { p = {0, 0}; }
  KOKKOS_FUNCTION void join(Parts& p, Parts const& q) const {
    p = {p.sum + q.sum, p.count + q.count};
  }
  KOKKOS_FUNCTION void final(Parts& p) const { p.sum /= p.count; }
};

struct ByRemainder {
  using value_type = double[];
  unsigned value_count;
  KOKKOS_FUNCTION void operator()(int i, double* sums) const {
    sums[unsigned(i) % value_count] += i;
  }
};

}  // namespace

TEST_CASE("functors with init, join and final, and sums of arrays, go with a VectorPolicy",
          "[vector_policy]") {
  Kokkos::View<double*, Memory> const a("a", 100000);
  Kokkos::deep_copy(a, 2.5);
  Mean::Parts mean;
  Kokkos::parallel_reduce(khs::VectorPolicy(Execution(), 0, 100000), Mean{a}, mean);
  CHECK(mean.sum == 2.5);
  CHECK(mean.count == 100000);
  double sums[3];
  Kokkos::parallel_reduce(khs::VectorPolicy(Execution(), 0, 9), ByRemainder{3}, sums);
  CHECK(sums[0] == 0 + 3 + 6);
  CHECK(sums[2] == 2 + 5 + 8);
}

namespace {

template <int Bytes>
struct Padded {
  static constexpr int length = (Bytes - int(sizeof(int*))) / int(sizeof(int));
  int* c;
  int padding[length];
  KOKKOS_FUNCTION void operator()(int i) const { c[i] = padding[i % length]; }
  KOKKOS_FUNCTION void operator()(int i, int& sum) const { sum += c[i]; }
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("functors may be of any size", "[vector_policy]", ((int Bytes), Bytes), 16,
                       400, 600, 4000, 4100, 32700, 32780, 40960) {
  constexpr int n = 30000;
  Kokkos::View<int*, Memory> const c("c", n);
  Kokkos::View<int, Memory> const sum("sum");
  Padded<Bytes> functor{c.data(), {}};
  for (int i = 0; i < functor.length; ++i) functor.padding[i] = i % 100;
  int expected = 0, result = 0;
  for (int i = 0; i < n; ++i) expected += functor.padding[i % functor.length];
  Execution const instance;
  khs::VectorPolicy const policy(instance, 0, n);
  Kokkos::parallel_for(policy, functor);
  Kokkos::parallel_reduce(policy, functor, result);
  CHECK(result == expected);

  Kokkos::deep_copy(c, 0);
  auto graph = Kokkos::Experimental::create_graph<Execution>([&](auto root) {
    root.then_parallel_for("write", policy, functor)
        .then_parallel_reduce("sum", policy, functor, sum);
  });
  graph.submit(instance);
  instance.fence();
  Kokkos::deep_copy(result, sum);
  CHECK(result == expected);
}

TEST_CASE("a block size that no device has is refused", "[vector_policy]") {
  using Bounded = khs::VectorPolicy<Execution, Kokkos::LaunchBounds<512>>;
  CHECK_NOTHROW(Bounded(0, 10).set_block_size(512));
  for (unsigned threads : {0U, 16U, 96U, 1024U})
    CHECK_THROWS_AS(Bounded(0, 10).set_block_size(threads), khs::Error);
  CHECK_THROWS_MATCHES(
      khs::VectorPolicy(0, 10).set_block_size(512), khs::Error,
      Catch::Matchers::Message(
          "KokkosHostSpaces::VectorPolicy: blocks of 512 threads are impossible (powers of two "
          "from 32 to 256): take one of these, or larger Kokkos::LaunchBounds"));
}
