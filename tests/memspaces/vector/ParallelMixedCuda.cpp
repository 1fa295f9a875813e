// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// khs::parallel_reduce on a GPU: values of all kinds, beside kernels of Kokkos on the same instance.

#include "../../support/DeviceWork.hpp"
#include "../Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>

namespace khs = KokkosHostSpaces;

namespace {

using OnDevice = Kokkos::View<double*, Kokkos::CudaSpace>;
template <class T>
using Single = Kokkos::View<T, Kokkos::CudaSpace>;

template <class T>
T value_of(Single<T> const& number) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), number)();
}

// Cannot be copied as bytes.
struct Total {
  double value = 0;
  Total()      = default;
  KOKKOS_FUNCTION explicit Total(double v) : value(v) {}
  KOKKOS_FUNCTION Total(Total const& other) : value(other.value) {}
  KOKKOS_FUNCTION Total& operator=(Total const& other) {
    value = other.value;
    return *this;
  }
  KOKKOS_FUNCTION Total& operator+=(Total const& other) {
    value += other.value;
    return *this;
  }
};

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

struct Identity {
  KOKKOS_FUNCTION double operator()(double a) const { return a; }
};

struct AddOneOf {
  OnDevice a;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const { sum += a(i); }
};

struct Accumulate {
  OnDevice a;
  KOKKOS_FUNCTION void operator()(int i, double& sum, bool) const { sum += a(i); }
};

struct Weights {
  OnDevice a;
  KOKKOS_FUNCTION void operator()(int i) const { a(i) = i % 13 + 1; }
};

OnDevice weights(int n) {
  OnDevice const a("a", std::size_t(n));
  Kokkos::parallel_for(n, Weights{a});
  Kokkos::fence();
  return a;
}

double sum_of_weights(int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += i % 13 + 1;
  return sum;
}

}  // namespace

template <>
struct Kokkos::reduction_identity<Total> {
  KOKKOS_FUNCTION static Total sum() { return Total(0); }
};
template <class T, int N, int Alignment>
struct Kokkos::reduction_identity<Large<T, N, Alignment>> {
  KOKKOS_FUNCTION static Large<T, N, Alignment> sum() { return {}; }
};

TEST_CASE("a sum of packs is right in values that cannot be copied as bytes",
          "[parallel_kernels_cuda]") {
  int const n = GENERATE(1, 2, 1001, 100003);
  Single<Total> const sum("sum");
  Kokkos::Cuda const instance;
  khs::element_sum("sum", instance, sum, Identity(), weights(n));
  instance.fence();
  CHECK(value_of(sum).value == sum_of_weights(n));
}

TEMPLATE_TEST_CASE("values may be of 1 KiB, and aligned to 128 bytes", "[parallel_kernels_cuda]",
                   (Large<float, 256, 4>), (Large<int, 3, 16>), (Large<double, 1, 128>),
                   (Large<signed char, 3, 1>), (Large<int, 257, 4>)) {
  int const n = GENERATE(1, 33, 4097, 200003);
  TestType sum;
  Kokkos::Cuda const instance;
  khs::parallel_reduce("sum", instance, n, AddNumbered<TestType>(), sum);
  TestType expected = {};
  for (int i = 0; i < n; ++i) AddNumbered<TestType>()(i, expected);
  int wrong = 0, k = 0;
  for (auto value : expected.values) wrong += sum.values[k++] != value;
  CHECK(wrong == 0);
}

TEST_CASE("reductions and scans of Kokkos alternate with ours on one instance",
          "[parallel_kernels_cuda]") {
  int const n = elements(GENERATE(70001, 900001)), turns = rounds(200);
  OnDevice const a = weights(n);
  Kokkos::Cuda const instance;
  Kokkos::View<double* [4], Kokkos::CudaSpace> const sums("sums", std::size_t(turns));
  for (int turn = 0; turn < turns; ++turn) {
    auto const result = [&](int k) { return Kokkos::subview(sums, turn, k); };
    khs::parallel_reduce("ours", instance, n, AddOneOf{a}, result(0));
    Kokkos::parallel_reduce(Kokkos::RangePolicy(instance, 0, n), AddOneOf{a}, result(1));
    auto const total = result(2);
    Kokkos::parallel_scan("scan", Kokkos::RangePolicy(instance, 0, n), Accumulate{a}, total);
    khs::element_sum("sum", instance, result(3), Identity(), a);
  }
  instance.fence();
  auto const host       = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  double const expected = sum_of_weights(n);
  int wrong             = 0;
  for (int turn = 0; turn < turns; ++turn)
    for (int k = 0; k < 4; ++k) wrong += host(turn, k) != expected;
  CHECK(wrong == 0);
}

namespace {

constexpr int turns_of_a_millisecond = 50000;  // of a chain of divisions, some 20 ns each

KOKKOS_FUNCTION double divided(int turns) {
  double value = 3;
  for (int i = 0; i < turns; ++i) value = 1 + 1 / value;
  return value;
}

struct TakeMilliseconds {
  Single<double> number;
  KOKKOS_FUNCTION void operator()(int) const { number() = divided(2 * turns_of_a_millisecond); }
};

// The last index takes so long that the sum waits for it.
struct CountSlowly {
  int last;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const {
    sum += i == last && divided(20 * turns_of_a_millisecond) < 0 ? 2 : 1;
  }
};

// Kernels on the default instance, one behind the other, until this is destroyed.
class BusyDefaultInstance {
 public:
  BusyDefaultInstance() {
    while (!m_is_busy) std::this_thread::yield();
  }
  ~BusyDefaultInstance() {
    m_ends = true;
    m_thread.join();
  }

 private:
  void work() {
    Single<double> const number("number");
    for (int i = 0; !m_ends; ++i) {
      Kokkos::parallel_for("takes milliseconds", 1, TakeMilliseconds{number});
      if (i % 4 == 3) Kokkos::Cuda().fence();
      m_is_busy = true;
    }
  }

  std::atomic<bool> m_is_busy{false}, m_ends{false};
  std::thread m_thread{[this] { work(); }};
};

}  // namespace

// Kokkos fills the scratch memory of a new instance on the legacy default stream, behind these kernels;
// non-blocking streams do not wait for it. Parts in that memory would be erased.
TEST_CASE("a sum on a new instance does not depend on a busy default stream",
          "[parallel_kernels_cuda]") {
  int const n = GENERATE(20000, 1 << 20);  // some blocks, and as many as there are
  Single<double> const sum("sum");
  BusyDefaultInstance const busy;
  for (int round = 0; round < 3; ++round) {
    DeviceWork::Stream stream(DeviceWork::Stream::Kind::non_blocking);
    Kokkos::Cuda const instance(stream.get());
    for (int again = 0; again < 2; ++again) {
      khs::parallel_reduce("slow", instance, n, CountSlowly{n - 1}, sum);
      double result = 0;
      Kokkos::deep_copy(instance, result, sum);
      instance.fence();
      CHECK(result == n);
    }
  }
}

// --- captured sums: graphs that run at the same time, beside sums of a stream ---

namespace {

using Counted = Kokkos::View<double, Kokkos::CudaSpace>;

// The last index takes some microseconds longer.
struct AddSlowly {
  double number;
  int last;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const {
    double value = 3;
    for (int turn = 0; i == last && turn < 2000; ++turn) value = 1 + 1 / value;
    sum += value < 0 ? 2 : number;
  }
};

struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Launchable = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

// A stream that ignores the default stream, and its instance.
struct Place {
  DeviceWork::Stream stream{DeviceWork::Stream::Kind::non_blocking};
  Kokkos::Cuda instance{stream.get()};

  void add(double number, int n, Counted const& sum) const {
    khs::parallel_reduce("sum", instance, n, AddSlowly{number, n - 1}, sum);
  }
  template <class Work>
  Launchable capture(Work const& work) {
    stream.begin_capture();
    work();
    cudaGraph_t const graph = stream.end_capture_with_graph();
    REQUIRE(graph != nullptr);
    cudaGraphExec_t launchable = nullptr;
    DeviceWork::require(cudaGraphInstantiate(&launchable, graph, 0), "cudaGraphInstantiate");
    DeviceWork::require(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return Launchable(launchable);
  }
  void launch(Launchable const& graph) const {
    DeviceWork::require(cudaGraphLaunch(graph.get(), stream.get()), "cudaGraphLaunch");
  }
};

double counted(Counted const& sum) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum)();
}

}  // namespace

TEST_CASE("the first sum of a stream may be captured", "[parallel_kernels_cuda]") {
  int const n = GENERATE(20000, 1 << 20);
  Counted const sum("sum");
  Place place;
  auto const graph = place.capture([&] { place.add(1, n, sum); });
  for (int replay = 0; replay < 3; ++replay) {
    Kokkos::deep_copy(place.instance, sum, 0.);
    place.launch(graph);
    place.instance.fence();
    CHECK(counted(sum) == n);
  }
}

TEST_CASE("sums captured on one stream are launched on others at the same time",
          "[parallel_kernels_cuda]") {
  int const n = elements(GENERATE(20000, 200000)), launches = rounds(250);
  std::array<Counted, 4> const sums = {Counted("a"), Counted("b"), Counted("c"), Counted("d")};
  std::array<Place, 3> places;
  auto const first  = places[0].capture([&] { places[0].add(1, n, sums[0]); });
  auto const second = places[0].capture([&] {
    places[0].add(2, n, sums[1]);
    places[0].add(3, n, sums[2]);
  });
  int wrong         = 0;
  for (int round = 0; round < launches; ++round) {
    for (int again = 0; again < 4; ++again) {
      places[1].launch(first);
      places[2].launch(second);
      places[0].add(4, n, sums[3]);
    }
    for (Place const& place : places) place.instance.fence();
    for (int k = 0; k < 4; ++k) wrong += counted(sums[std::size_t(k)]) != (k + 1.) * n;
  }
  CHECK(wrong == 0);
}
