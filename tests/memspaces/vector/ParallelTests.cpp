// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// khs::parallel_for and khs::parallel_reduce: each index once, any body, any result, as Kokkos' own.

#include "../KokkosTest.hpp"

namespace {

using Execution = Kokkos::DefaultExecutionSpace;
using Memory    = Execution::memory_space;
using Values    = Kokkos::View<double*, Memory>;

template <class T>
struct CountVisits {
  Kokkos::View<int*, Memory> visits;
  KOKKOS_FUNCTION void operator()(T i) const { Kokkos::atomic_inc(&visits(std::size_t(i) + 1)); }
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

// Not trivially copyable: no kernel of this library reduces it.
struct Count {
  long long value = 0;
  Count()         = default;
  KOKKOS_FUNCTION Count(Count const& other) : value(other.value) {}
  KOKKOS_FUNCTION Count& operator=(Count const& other) {
    value = other.value;
    return *this;
  }
  KOKKOS_FUNCTION Count& operator+=(Count const& other) {
    value += other.value;
    return *this;
  }
};

struct CountIndices {
  KOKKOS_FUNCTION void operator()(int, Count& count) const { count.value += 1; }
};

int some_length() {
  return GENERATE(0, 1, 2, 33, 1024, 4097, 65536, 300001, take(2, random(2, 200000)));
}

}  // namespace

TEMPLATE_TEST_CASE("a parallel_for visits each index once", "[parallel_kernels]", int, long long,
                   unsigned char) {
  int const n = std::min(some_length(),
                         int(std::min<long long>(1000000, std::numeric_limits<TestType>::max())));
  Kokkos::View<int*, Memory> const visits("visits", std::size_t(n) + 2);
  Execution const instance;
  khs::parallel_for("visit", instance, TestType(n), CountVisits<TestType>{visits});
  instance.fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), visits);
  int wrong       = host(0) + host(n + 1);
  for (int i = 1; i <= n; ++i) wrong += host(i) != 1;
  CHECK(wrong == 0);
}

TEST_CASE("a number of indices below zero is refused", "[parallel_kernels]") {
  Kokkos::View<int*, Memory> const visits("visits", 2);
  CHECK_THROWS_MATCHES(
      khs::parallel_for("few", Execution(), -3, CountVisits<int>{visits}), khs::Error,
      Catch::Matchers::Message(
          "KokkosHostSpaces::parallel_for: \"few\" has -3 indices (there cannot be fewer than none): "
          "pass how many"));
  int sum = 0;
  CHECK_THROWS_AS(khs::parallel_reduce("few", Execution(), -1L, AddElement<int>{}, sum),
                  khs::Error);
}

TEMPLATE_TEST_CASE("a parallel_reduce adds each index once, wherever its result lies",
                   "[parallel_kernels]", double, float, long long, short, Kokkos::complex<double>) {
  int const n  = some_length();
  auto const a = random_numbers<TestType>(n);
  Execution const instance;
  AddElement<TestType> const body{a};
  TestType expected(0), sum(77);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  for (int i = 0; i < n; ++i) expected += host(i);
  khs::parallel_reduce("to a number", instance, n, body, sum);
  CHECK(sum == expected);

  Kokkos::View<TestType, Memory> const on_device("on_device");
  Kokkos::View<TestType, Kokkos::HostSpace> const on_host("on_host");
  Kokkos::View<TestType, khs::MappedSpace> const mapped("mapped");
  Kokkos::View<TestType, khs::PinnedSpace> const pinned("pinned");
  khs::parallel_reduce("to the device", instance, n, body, on_device);
  khs::parallel_reduce("to the host", instance, n, body, on_host);
  khs::parallel_reduce("to mapped memory", instance, n, body, mapped);
  khs::parallel_reduce("to pinned memory", instance, n, body, pinned);
  CHECK(on_host() == expected);
  CHECK(pinned() == expected);
  instance.fence();
  Kokkos::deep_copy(sum, on_device);
  CHECK(sum == expected);
  CHECK(mapped() == expected);
}

namespace {

// The mean of a, with functions of its own for all steps. Only the host makes values, since there is an init.
struct Mean {
  struct Parts {
    double sum, count;
    Parts() : sum(-1), count(-1) {}
    KOKKOS_FUNCTION Parts(double s, double c) : sum(s), count(c) {}
  };
  using value_type = Parts;
  Values a;
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

TEST_CASE(
    "bodies with init, join and final, whose values no device makes, and sums of arrays, are reduced",
    "[parallel_kernels]") {
  int const n = GENERATE(1, 5000, 200003);
  Values const a("a", std::size_t(n));
  Kokkos::deep_copy(a, 2.5);
  Mean::Parts mean;
  khs::parallel_reduce("mean", Execution(), n, Mean{a}, mean);
  CHECK((mean.sum == 2.5 && mean.count == n));
  double sums[3];
  khs::parallel_reduce("by remainder", Execution(), 9, ByRemainder{3}, sums);
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

TEST_CASE("a result that only the host can access is there on return, whatever its type",
          "[parallel_kernels]") {
  Kokkos::View<Count, khs::PinnedSpace> const pinned("pinned");
  Kokkos::View<Count, Kokkos::HostSpace> const pageable("pageable");
  Execution const instance;
  khs::parallel_reduce("count", instance, 5000000, CountIndices(), pinned);
  CHECK(pinned().value == 5000000);
  khs::parallel_reduce("count", instance, 5000000, CountIndices(), pageable);
  CHECK(pageable().value == 5000000);
}

TEMPLATE_TEST_CASE_SIG("bodies may be of any size", "[parallel_kernels]", ((int Bytes), Bytes), 16,
                       4100, 32780) {
  constexpr int n = 30000;
  Kokkos::View<int*, Memory> const c("c", n);
  Padded<Bytes> body{c.data(), {}};
  for (int i = 0; i < body.length; ++i) body.padding[i] = i % 100;
  int expected = 0, result = 0;
  for (int i = 0; i < n; ++i) expected += body.padding[i % body.length];
  Execution const instance;
  khs::parallel_for("write", instance, n, body);
  khs::parallel_reduce("sum", instance, n, body, result);
  CHECK(result == expected);
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

TEMPLATE_TEST_CASE("a reducer gives the same as in a parallel_reduce of Kokkos",
                   "[parallel_kernels]", Kokkos::Prod<unsigned>, Kokkos::Min<float>,
                   Kokkos::LAnd<int>, Kokkos::BOr<unsigned char>, Kokkos::MinMax<double>,
                   (Kokkos::MinMaxFirstLastLoc<double, int>), (Kokkos::MaxFirstLoc<double, int>)) {
  int const n    = GENERATE(0, 1, 33, 4097, 100003);
  int const zero = GENERATE(-1, 0, 77777);
  Values const a("a", std::size_t(n));
  Kokkos::parallel_for(n, FillWith{a, zero});
  using Value = typename TestType::value_type;
  Value of_kokkos, ours;
  Execution const instance;
  Include<TestType> const body{a};
  Kokkos::parallel_reduce(Kokkos::RangePolicy(instance, 0, n), body, TestType(of_kokkos));
  khs::parallel_reduce("reduce", instance, n, body, TestType(ours));
  CHECK(same(of_kokkos, ours));
}

namespace {

// Up to 1 KiB, or aligned to more than 16 bytes.
template <class T, int N, int Alignment>
struct alignas(Alignment) Large {
  T values[N] = {};
  KOKKOS_FUNCTION Large& operator+=(Large const& other) {
    for (int k = 0; k < N; ++k) values[k] = static_cast<T>(values[k] + other.values[k]);
    return *this;
  }
};

// Small enough for float to be exact.
template <class Value>
struct AddNumbered;
template <class T, int N, int Alignment>
struct AddNumbered<Large<T, N, Alignment>> {
  KOKKOS_FUNCTION void operator()(int i, Large<T, N, Alignment>& sum) const {
    for (int k = 0; i % 7 == 3 && k < N; ++k)
      sum.values[k] = static_cast<T>(sum.values[k] + static_cast<T>(k + 1));
  }
};

}  // namespace

template <class T, int N, int Alignment>
struct Kokkos::reduction_identity<Large<T, N, Alignment>> {
  KOKKOS_FUNCTION static Large<T, N, Alignment> sum() { return {}; }
};

TEMPLATE_TEST_CASE("values may be of 1 KiB, and aligned to 128 bytes", "[parallel_kernels]",
                   (Large<float, 256, 4>), (Large<double, 1, 128>), (Large<signed char, 3, 1>),
                   (Large<int, 257, 4>)) {
  int const n = GENERATE(1, 33, 4097, 200003);
  TestType sum;
  Execution const instance;
  khs::parallel_reduce("sum", instance, n, AddNumbered<TestType>(), sum);
  TestType expected = {};
  for (int i = 0; i < n; ++i) AddNumbered<TestType>()(i, expected);
  int wrong = 0, k = 0;
  for (auto value : expected.values) wrong += sum.values[k++] != value;
  CHECK(wrong == 0);
}
