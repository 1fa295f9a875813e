// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// element_wise and element_sum equal a loop on the host, for all lengths, alignments and types.

#include "../Rounds.hpp"
#include "../KokkosTest.hpp"

namespace {

using Execution = Kokkos::DefaultExecutionSpace;

struct Product {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a * b; }
};

template <class T>
struct Identity {
  KOKKOS_FUNCTION T operator()(T a) const { return a; }
};

// Elements of 3, 12 or 48 bytes.
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

template <class T>
using Vector = Kokkos::View<T*, Execution::memory_space>;

}  // namespace

template <class T, int N>
struct Kokkos::reduction_identity<Several<T, N>> {
  KOKKOS_FUNCTION static Several<T, N> sum() { return Several<T, N>(0); }
};

TEMPLATE_TEST_CASE_SIG("elements may be of 3, 12 and 48 bytes", "[element_wise]",
                       ((class T, int N), T, N), (signed char, 3), (float, 3), (double, 6)) {
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

TEST_CASE("element-wise kernels refuse Views of different lengths", "[element_wise]") {
  Vector<double> const a("short", 10), c("long", 11);
  CHECK_THROWS_MATCHES(
      khs::element_wise("copy", Execution(), c, Identity<double>(), a), khs::Error,
      Catch::Matchers::Message(
          "KokkosHostSpaces::element_wise: the View \"short\" has 10 elements and \"long\" has 11 "
          "(all must have the same number): pass subviews of equal extents"));
  Kokkos::View<double, Execution::memory_space> const sum("sum");
  CHECK_THROWS_AS(khs::element_sum("dot", Execution(), sum, Product(), a, c), khs::Error);
  CHECK_NOTHROW(khs::element_wise("copy", Execution(), a, Identity<double>(), a));
}

TEST_CASE("an output that overlaps a part of an input is refused", "[element_wise]") {
  using Catch::Matchers::MessageMatches, Catch::Matchers::ContainsSubstring;
  Vector<double> const a("overlapped", 11);
  std::pair<int, int> const first(0, 10), second(1, 11), lower(0, 5), upper(5, 10);
  auto const run = [&](auto const& to, auto const& from) {
    khs::element_wise("copy", Execution(), to, Identity<double>(), from);
  };
  CHECK_THROWS_MATCHES(run(Kokkos::subview(a, second), Kokkos::subview(a, first)), khs::Error,
                       MessageMatches(ContainsSubstring("\"overlapped\" overlaps a part")));
  CHECK_THROWS_AS(run(Kokkos::subview(a, first), Kokkos::subview(a, second)), khs::Error);
  Vector<float> const as_floats(reinterpret_cast<float*>(a.data()), 11);
  CHECK_THROWS_AS(run(a, as_floats), khs::Error);
  CHECK_NOTHROW(run(Kokkos::subview(a, lower), Kokkos::subview(a, upper)));
  CHECK_NOTHROW(run(a, a));
  Execution().fence();
}

TEST_CASE("a sum may be a variable, and rows of a matrix are taken, no columns", "[element_wise]") {
  using Strided = Kokkos::View<double*, Kokkos::LayoutStride, Execution::memory_space>;
  Kokkos::View<double**, Kokkos::LayoutRight, Execution::memory_space> const matrix("matrix", 10,
                                                                                    20);
  Kokkos::deep_copy(matrix, 2.0);
  Strided const row    = Kokkos::subview(matrix, 3, Kokkos::ALL);
  Strided const column = Kokkos::subview(matrix, Kokkos::ALL, 3);
  Execution const instance;
  khs::element_wise("map", instance, row, Twice<double>(), row);
  double sum = -1, labelled = -1;
  khs::element_sum("sum", instance, sum, Identity<double>(), row);
  khs::element_sum("sum", instance, labelled, Identity<double>(), row);
  CHECK((sum == 80 && labelled == 80));
  CHECK_THROWS_AS(khs::element_sum("sum", instance, sum, Identity<double>(), column), khs::Error);
  CHECK_THROWS_AS(khs::element_wise("map", instance, column, Twice<double>(), column), khs::Error);
}

// Random lengths, alignments, types and spaces; results of other types than those of the elements. All numbers are small integers, so that sums are exact in every order.
namespace ElementWiseRandom {

using DeviceSpace          = Execution::memory_space;
constexpr std::size_t most = 70002, margin = 40;
constexpr std::size_t borders[] = {0, 1, 2, 3, 5, 255, 256, 1023, 1024, 70001};

// Elements in a space, and a copy that the host reads.
template <class T, class Space>
struct Buffer {
  Kokkos::View<T*, Space> view{"view", most + 2 * margin};
  Kokkos::View<T*, khs::PinnedSpace> host{"host", most + 2 * margin};

  explicit Buffer(int step) {
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = T(int(i) * step % 11 - 5);
    Kokkos::deep_copy(view, host);
  }
  auto part(std::size_t first, std::size_t n) const {
    return Kokkos::subview(view, std::pair(first, first + n));
  }
};

template <class Result, class A, class B>
struct Mix {
  KOKKOS_FUNCTION Result operator()(A a, B b) const { return Result(int(a) + 2 * int(b)); }
};

template <class Out, class A, class B, class OutSpace, class InSpace, class Instance = Execution>
void check() {
  Instance const instance;
  Buffer<A, InSpace> const a(3);
  Buffer<B, InSpace> const b(7);
  Buffer<Out, OutSpace> const out(1);
  Kokkos::View<std::int64_t, khs::MappedSpace> const sum("sum");
  std::mt19937 random(20261125);
  auto const below = [&](std::size_t n) { return std::size_t(random()) % n; };
  int const count  = rounds(25);
  for (int round = 0; round < count; ++round) {
    // At first at the borders of packs and blocks.
    std::size_t const n    = round < 10      ? borders[round]
                             : below(3) == 0 ? below(most)
                             : below(2) == 0 ? below(40)
                                             : below(9000);
    std::size_t const of_a = below(margin), of_b = below(2) * below(margin), of_out = below(margin);
    INFO("round " << round << ": " << n << " elements from " << of_a << ", " << of_b << " to "
                  << of_out);
    auto const from_a = a.part(of_a, n);
    auto const from_b = b.part(of_b, n);
    khs::element_sum("sum", instance, sum, Mix<std::int64_t, A, B>(), from_a, from_b);
    khs::element_wise("mix", instance, out.part(of_out, n), Mix<double, A, B>(), from_a, from_b);
    if constexpr (std::is_same_v<Out, A>)  // again, in place
      khs::element_wise("mix", instance, from_a, Mix<double, A, B>(), from_a, from_b);
    Kokkos::View<Out*, khs::PinnedSpace> const got("got", out.view.size());
    Kokkos::View<A*, khs::PinnedSpace> const in_out("in_out", a.view.size());
    Kokkos::deep_copy(instance, got, out.view);
    Kokkos::deep_copy(instance, in_out, a.view);
    Kokkos::deep_copy(instance, a.view, a.host);
    instance.fence();
    std::int64_t wanted = 0;
    std::size_t wrong = 0, in_place = 0;
    for (std::size_t i = 0; i < out.host.size(); ++i) {
      if (i >= of_out && i < of_out + n) {
        auto const value =
            Mix<std::int64_t, A, B>()(a.host(of_a + i - of_out), b.host(of_b + i - of_out));
        wanted += value;
        out.host(i) = Out(int(value));
        in_place += std::is_same_v<Out, A> && !(in_out(of_a + i - of_out) == A(int(value)));
      }
      wrong += !(got(i) == out.host(i));
    }
    REQUIRE((wrong == 0 && in_place == 0));
    REQUIRE(sum() == wanted);
  }
}

TEST_CASE("element_wise and element_sum equal a loop on the host, for random parts of Views",
          "[element_wise]") {
  check<double, double, double, DeviceSpace, DeviceSpace>();
  check<float, float, float, Kokkos::HostSpace, Kokkos::HostSpace,
        Kokkos::DefaultHostExecutionSpace>();
  check<float, float, double, khs::MappedSpace, DeviceSpace>();
  check<short, float, char, DeviceSpace, khs::MappedSpace>();
  check<double, signed char, std::int64_t, khs::MappedSpace, khs::MappedSpace>();
}

}  // namespace ElementWiseRandom
