// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Element-wise kernels and sums: every element once, for all lengths and alignments of arrays.

#include <KokkosHostSpaces.hpp>

#include <Kokkos_Graph.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace khs = KokkosHostSpaces;

namespace {

using Execution = Kokkos::DefaultExecutionSpace;

template <class T>
struct AddThrice {
  KOKKOS_FUNCTION T operator()(T a, T b) const { return static_cast<T>(a + T(3) * b); }
};

template <class T>
struct Identity {
  KOKKOS_FUNCTION T operator()(T a) const { return a; }
};

struct ProductInDouble {
  KOKKOS_FUNCTION double operator()(float a, double b) const { return double(a) * b; }
};

struct ToDouble {
  KOKKOS_FUNCTION double operator()(float a) const { return a; }
};

// Elements of 3, 6, 12, 24 or 48 bytes.
template <class T, int N>
struct Several {
  T values[N];
  KOKKOS_FUNCTION Several() : Several(T(0)) {}
  KOKKOS_FUNCTION explicit Several(T value) {
    for (T& v : values) v = value;
  }
  template <class U>
  KOKKOS_FUNCTION explicit Several(Several<U, N> const& other) {
    for (int i = 0; i < N; ++i) values[i] = T(other.values[i]);
  }
  KOKKOS_FUNCTION Several& operator+=(Several const& other) {
    for (int i = 0; i < N; ++i) values[i] = static_cast<T>(values[i] + other.values[i]);
    return *this;
  }
  friend KOKKOS_FUNCTION Several operator+(Several a, Several const& b) { return a += b; }
};

template <class T>
struct Twice {
  KOKKOS_FUNCTION T operator()(T const& a) const { return a + a; }
};

struct AddOne {
  KOKKOS_FUNCTION int operator()(int a) const { return a + 1; }
};

template <class T>
using Vector = Kokkos::View<T*, Execution::memory_space>;

// a(i) = i % 5 + first
template <class T>
void count_up(Vector<T> const& a, T first) {
  auto const host = Kokkos::create_mirror_view(a);
  for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = T(i % 5) + first;
  Kokkos::deep_copy(a, host);
}

template <class T>
double sum_of(Vector<T> const& a) {
  Kokkos::View<T, Execution::memory_space> const sum("sum");
  Execution const instance;
  khs::element_sum("sum", instance, sum, Identity<T>(), a);
  T result;
  Kokkos::deep_copy(instance, result, sum);
  instance.fence();
  return double(result);
}

constexpr std::size_t margin = 8;

std::size_t any_length() { return GENERATE(0u, 1u, 2u, 3u, 5u, 255u, 256u, 1023u, 1024u, 70001u); }

}  // namespace

template <class T, int N>
struct Kokkos::reduction_identity<Several<T, N>> {
  KOKKOS_FUNCTION static Several<T, N> sum() { return Several<T, N>(0); }
};

TEMPLATE_TEST_CASE_SIG("elements may be of 3, 6, 12, 24 and 48 bytes", "[element_wise]",
                       ((class T, int N), T, N), (signed char, 3), (short, 3), (float, 3),
                       (double, 3), (double, 6)) {
  using Element       = Several<T, N>;
  using Result        = Several<std::conditional_t<sizeof(T) < 4, float, T>, N>;
  std::size_t const n = 1000;
  Vector<Element> const a("a", n), c("c", n);
  Kokkos::deep_copy(a, Element(3));
  Kokkos::View<Result, Execution::memory_space> const sum("sum");
  Execution const instance;
  khs::element_wise("twice", instance, c, Twice<Element>(), a);
  khs::element_sum("sum", instance, sum, Identity<Element>(),
                   Kokkos::subview(c, std::pair<int, int>(0, 20)));
  instance.fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  int wrong       = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (T value : host(i).values) wrong += value != T(6);
  CHECK(wrong == 0);
  Result result;
  Kokkos::deep_copy(result, sum);
  for (auto value : result.values) CHECK(value == 120);
}

TEMPLATE_TEST_CASE("a sum is launched by its policy, on the host as on a device", "[element_wise]",
                   double, int) {
  std::size_t const n = any_length();
  Kokkos::DefaultHostExecutionSpace const instance;
  Kokkos::View<TestType*, Kokkos::HostSpace> const a("a", n);
  Kokkos::View<TestType, Kokkos::HostSpace> const sum("sum");
  Kokkos::deep_copy(a, TestType(3));
  khs::ElementSum const kernel(Identity<TestType>(), a);
  Kokkos::parallel_reduce("sum", kernel.policy(instance), kernel, sum);
  instance.fence();
  CHECK(double(sum()) == 3.0 * double(n));
}

TEMPLATE_TEST_CASE("an element-wise kernel writes every element once, and no other",
                   "[element_wise]", double, float, int, short) {
  std::size_t const n = any_length(), offset = GENERATE(0u, 1u, 3u);
  CAPTURE(n, offset);
  Vector<TestType> const a("a", n + margin), b("b", n + margin), c("c", n + margin);
  count_up<TestType>(a, 1);
  count_up<TestType>(b, 2);
  Kokkos::deep_copy(c, TestType(-1));
  std::pair<std::size_t, std::size_t> const part(offset, offset + n);
  khs::element_wise("triad", Execution(), Kokkos::subview(c, part), AddThrice<TestType>(),
                    Kokkos::subview(a, part), Kokkos::subview(b, part));

  auto const host   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n + margin; ++i) {
    bool const inside       = i >= offset && i < offset + n;
    TestType const expected = inside ? TestType(4 * TestType(i % 5) + 7) : TestType(-1);
    wrong += host(i) != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("an element-wise kernel works in place, and converts between types", "[element_wise]") {
  std::size_t const n = any_length();
  Vector<double> const c("c", n);
  Vector<float> const a("a", n);
  count_up<double>(c, 1);
  count_up<float>(a, 1);
  khs::element_wise("product", Execution(), c, ProductInDouble(), a, c);
  auto const host   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += host(i) != double((i % 5 + 1) * (i % 5 + 1));
  CHECK(wrong == 0);
}

TEST_CASE("results are converted to the elements of the output", "[element_wise]") {
  std::size_t const n = any_length();
  Vector<float> const a("a", n), c("c", n);
  Vector<short> const small("small", n);
  Vector<Several<double, 3>> const several("several", n);
  count_up<float>(a, 1);
  khs::element_wise("double to float", Execution(), c, ToDouble(), a);
  khs::element_wise("double to short", Execution(), small, ToDouble(), a);
  khs::element_wise("by an explicit constructor", Execution(), several, ToDouble(), a);
  auto const floats  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  auto const shorts  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), small);
  auto const triples = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), several);
  std::size_t wrong  = 0;
  for (std::size_t i = 0; i < n; ++i) {
    float const expected = float(i % 5 + 1);
    wrong += floats(i) != expected || float(shorts(i)) != expected ||
             triples(i).values[2] != double(expected);
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("a sum takes every element once, and replaces the old result", "[element_wise]",
                   double, float, int) {
  std::size_t const n = any_length(), offset = GENERATE(0u, 1u, 3u);
  CAPTURE(n, offset);
  Vector<TestType> const a("a", n + margin);
  Kokkos::deep_copy(a, TestType(1000));
  auto const part = Kokkos::subview(a, std::pair<std::size_t, std::size_t>(offset, offset + n));
  Kokkos::deep_copy(part, TestType(3));
  CHECK(sum_of<TestType>(part) == 3.0 * double(n));
  CHECK(sum_of<TestType>(part) == 3.0 * double(n));
}

TEMPLATE_TEST_CASE("complex numbers are mapped and summed", "[element_wise]", float, double) {
  using Complex       = Kokkos::complex<TestType>;
  std::size_t const n = any_length();
  Vector<Complex> const a("a", n), c("c", n);
  Kokkos::deep_copy(a, Complex(1, -2));
  Kokkos::View<Complex, Execution::memory_space> const sum("sum");
  Execution const instance;
  khs::element_wise("triad", instance, c, AddThrice<Complex>(), a, a);
  khs::element_sum("sum", instance, sum, Identity<Complex>(), c);
  instance.fence();
  Complex result;
  Kokkos::deep_copy(result, sum);
  CHECK(result == Complex(TestType(4 * n), -TestType(8 * n)));
}

TEST_CASE("the sign of zero and what is not a number survive", "[element_wise]") {
  std::size_t const n = GENERATE(5u, 70001u);
  Vector<double> const a("a", n), c("c", n);
  auto const host = Kokkos::create_mirror_view(a);
  for (std::size_t i = 0; i < n; ++i) host(i) = i == n / 2 ? std::nan("") : -0.0;
  Kokkos::deep_copy(a, host);
  khs::element_wise("copy", Execution(), c, Identity<double>(), a);
  auto const copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i)
    wrong += i == n / 2 ? !std::isnan(copied(i)) : !std::signbit(copied(i)) || copied(i) != 0;
  CHECK(wrong == 0);
  CHECK(std::isnan(sum_of<double>(c)));
}

TEST_CASE("launches that follow each other do every element of a kernel once", "[element_wise]") {
  constexpr int N           = 4;
  std::uint64_t const packs = GENERATE(0u, 1u, 7u, 8u, 9u), rest = GENERATE(0u, 1u, 3u, 21u);
  std::uint32_t const most = GENERATE(4u, 8u, 100u);
  if (packs > 0 && rest >= N) return;
  khs::Impl::PackSplit const deal{packs, rest};
  alignas(16) int done[64] = {};
  khs::Impl::PackMap<N, AddOne, int, int> const all(done, khs::Impl::InputsOf<int>(done), AddOne());
  std::uint64_t const items = std::max(packs, rest);
  for (std::uint64_t first = 0; first < items; first += most) {
    auto const count = std::uint32_t(std::min<std::uint64_t>(items - first, most));
    auto const part  = all.part(deal, first, count);
    for (std::uint32_t k = 0; k < std::max(2 * count, khs::Impl::warp_size); ++k) part(k);
  }
  for (std::uint64_t i = 0; i < 64; ++i) CHECK(done[i] == int(i < deal.elements(N)));
}

TEST_CASE("element-wise kernels refuse Views of different lengths", "[element_wise]") {
  Vector<double> const a("short", 10), c("long", 11);
  CHECK_THROWS_MATCHES(
      khs::element_wise("copy", Execution(), c, Identity<double>(), a), khs::Error,
      Catch::Matchers::Message(
          "KokkosHostSpaces::ElementWise: the View \"short\" has 10 elements and \"long\" has 11 "
          "(all must have the same number): pass subviews of equal extents"));
  Kokkos::View<double, Execution::memory_space> const sum("sum");
  CHECK_THROWS_AS(khs::element_sum("dot", Execution(), sum, AddThrice<double>(), a, c), khs::Error);
  CHECK_NOTHROW(khs::element_wise("copy", Execution(), a, Identity<double>(), a));
}

TEST_CASE("element-wise kernels and sums work on mapped memory in place", "[element_wise]") {
  int const n = GENERATE(1001, 70001, 200003);
  Kokkos::View<double*, khs::MappedSpace> const a("a", std::size_t(n)), c("c", std::size_t(n));
  Kokkos::View<double, khs::MappedSpace> const sum("sum");
  for (int i = 0; i < n; ++i) a(i) = i;
  Execution const instance;
  khs::element_wise("triad", instance, c, AddThrice<double>(), a, a);
  khs::element_sum("sum", instance, sum, Identity<double>(), c);
  instance.fence();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c(i) != 4.0 * i;
  CHECK(wrong == 0);
  CHECK(sum() == 2.0 * n * (n - 1.0));
}

TEST_CASE("an element-wise kernel is a node of a graph", "[element_wise]") {
  std::size_t const n = any_length();
  Vector<double> const a("a", n), c("c", n);
  count_up<double>(a, 1);
  Execution const instance;
  khs::ElementWise const kernel(c, AddThrice<double>(), c, a);
  auto graph = Kokkos::Experimental::create_graph<Execution>([&](auto root) {
    root.then_parallel_for("first", kernel.policy(instance), kernel)
        .then_parallel_for("second", kernel.policy(instance), kernel);
  });
  graph.submit(instance);
  graph.submit(instance);
  instance.fence();
  auto const host   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += host(i) != 12.0 * double(i % 5 + 1);
  CHECK(wrong == 0);
}
