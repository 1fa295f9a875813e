// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// khs::parallel_for and parallel_reduce on a GPU: the same bits in every run, sums of several instances,
// threads and graphs at the same time, Kokkos Tools, more than 2^32 indices.

#include "../../support/DeviceWork.hpp"
#include "../Rounds.hpp"
#include "../KokkosTest.hpp"

#include <bit>

namespace {

using OnDevice = Kokkos::View<double*, Kokkos::CudaSpace>;
using Number   = Kokkos::View<double, Kokkos::CudaSpace>;

struct Product {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a * b; }
};

struct AddProduct {
  OnDevice a, b;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const { sum += a(i) * b(i); }
};

// Many magnitudes: another order of a sum changes its bits.
OnDevice random_vector(int n, unsigned seed) {
  std::minstd_rand random(seed);
  OnDevice const a("a", std::size_t(n));
  auto const host = Kokkos::create_mirror_view(a);
  for (int i = 0; i < n; ++i) host(i) = std::ldexp(double(random()) - 1e9, int(random() % 80) - 40);
  Kokkos::deep_copy(a, host);
  return a;
}

double value_of(Number const& sum) {
  double value = 0;
  Kokkos::deep_copy(value, sum);
  return value;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

double dot_by_element_sum(Kokkos::Cuda const& instance, OnDevice const& a, OnDevice const& b,
                          Number const& sum) {
  khs::element_sum("dot", instance, sum, Product(), a, b);
  instance.fence();
  return value_of(sum);
}

}  // namespace

TEST_CASE("a sum is bitwise the same in every run", "[parallel_kernels_cuda]") {
  int const n = elements(GENERATE(4096, 4097, 1 << 20, take(5, random(1000, 3000000))));
  std::size_t const offset = GENERATE(0u, 1u);
  std::pair<std::size_t, std::size_t> const part(offset, std::size_t(n));
  CAPTURE(n, offset);
  OnDevice const a = Kokkos::subview(random_vector(n, 1), part);
  OnDevice const b = Kokkos::subview(random_vector(n, 2), part);
  int const m      = n - int(offset);
  Kokkos::Cuda const instance;
  Number const sum("sum");
  double const first    = dot_by_element_sum(instance, a, b, sum);
  double first_by_index = 0;
  khs::parallel_reduce("dot", instance, m, AddProduct{a, b}, first_by_index);
  int different = 0;
  for (int run = 0; run < rounds(50); ++run) {
    double by_index = 0;
    khs::parallel_reduce("dot", instance, m, AddProduct{a, b}, by_index);
    different += bits(by_index) != bits(first_by_index);
    different += bits(dot_by_element_sum(instance, a, b, sum)) != bits(first);
  }
  CHECK(different == 0);
}

// Workspaces belong to the handle of a stream: the end of an instance waits for its sums.
TEST_CASE("streams that end with sums queued, and whose handles come again, do not mix their sums",
          "[parallel_kernels_cuda]") {
  int const n      = elements(1 << 22);
  OnDevice const a = random_vector(n, 5), b = random_vector(n, 6);
  Number const expected_sum("expected");
  double const expected = dot_by_element_sum(Kokkos::Cuda(), a, b, expected_sum);
  std::vector<Number> sums(8);
  for (auto& sum : sums) sum = Number("sum");
  int wrong = 0;
  for (int round = 0; round < rounds(20); ++round) {
    for (Number const& sum : sums) {
      cudaStream_t stream = nullptr;
      REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
      {
        Kokkos::Cuda const instance(stream);
        for (int turn = 0; turn < 4; ++turn)
          khs::element_sum("dot", instance, sum, Product(), a, b);
      }
      REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
    }
    Kokkos::fence();
    for (Number const& sum : sums) wrong += bits(value_of(sum)) != bits(expected);
  }
  CHECK(wrong == 0);
}

namespace {

std::vector<std::string> seen;
std::vector<std::uint32_t> devices;

void begin_kernel(char const* name, std::uint32_t device, std::uint64_t* kernel) {
  seen.push_back(name);
  devices.push_back(device);
  *kernel = 7;
}
void end_kernel(std::uint64_t kernel) { seen.push_back("end " + std::to_string(kernel)); }
void note_fence(char const* name, std::uint32_t, std::uint64_t*) {  // except fences for tools
  if (std::string(name).find("Tool Fence") == std::string::npos) seen.push_back("fence");
}

}  // namespace

TEST_CASE("tools see label, instance and end of a kernel, and no hidden fence",
          "[parallel_kernels_cuda]") {
  namespace Tools = Kokkos::Tools::Experimental;
  OnDevice const a("a", 5000);
  Number const sum("sum");
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  khs::element_sum("first", instance, sum, Product(), a, a);
  auto const before = Tools::get_callbacks();
  seen.clear();
  devices.clear();
  Tools::set_begin_parallel_for_callback(begin_kernel);
  Tools::set_end_parallel_for_callback(end_kernel);
  Tools::set_begin_parallel_reduce_callback(begin_kernel);
  Tools::set_end_parallel_reduce_callback(end_kernel);
  Tools::set_begin_fence_callback(note_fence);
  khs::element_wise("product", instance, a, Product(), a, a);
  khs::element_sum("dot", instance, sum, Product(), a, a);
  auto const by_device = seen;
  double on_host       = 0;
  khs::parallel_reduce("to the host", instance, 5000, AddProduct{a, a}, on_host);
  Tools::set_callbacks(before);
  CHECK(by_device == std::vector<std::string>{"product", "end 7", "dot", "end 7"});
  CHECK(std::count(seen.begin(), seen.end(), "fence") > 0);
  for (std::uint32_t device : devices) CHECK(device == Tools::device_id(instance));
}

TEST_CASE("not a number and the sign of zero survive", "[parallel_kernels_cuda]") {
  int const n = GENERATE(5, 1 << 20);
  OnDevice const a("a", std::size_t(n)), c("c", std::size_t(n));
  Kokkos::Cuda const instance;
  khs::parallel_for(  // deep_copy(a, -0.0) sets all bytes to 0
      "minus zero", instance, n, KOKKOS_LAMBDA(int i) { a(i) = -0.0; });
  khs::element_wise(
      "copy", instance, c, KOKKOS_LAMBDA(double x) { return x; }, a);
  instance.fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  CHECK(std::all_of(host.data(), host.data() + n, [](double x) { return std::signbit(x); }));
  Kokkos::deep_copy(Kokkos::subview(a, n - 1), std::nan(""));
  Number const sum("sum");
  CHECK(std::isnan(dot_by_element_sum(instance, a, a, sum)));
  double largest = 0;
  khs::parallel_reduce(
      "largest", instance, n, KOKKOS_LAMBDA(int i, double& m) { m = a(i) > m ? a(i) : m; },
      Kokkos::Max<double>(largest));
  CHECK((largest == 0 || n == 1));
}

TEST_CASE("vectors of more than 2^32 elements", "[parallel_kernels_cuda][large]") {
  std::size_t const offset = GENERATE(0u, 1u), n = (std::size_t(1) << 32) + 70001;
  using Bytes = Kokkos::View<signed char*, Kokkos::CudaSpace>;
  Bytes const all(Kokkos::view_alloc("all", Kokkos::WithoutInitializing), n + offset);
  Kokkos::Cuda const instance;
  Kokkos::deep_copy(instance, all, static_cast<signed char>(1));
  auto const a = Kokkos::subview(all, std::pair<std::size_t, std::size_t>(offset, n + offset));
  khs::element_wise(
      "twice", instance, a,
      KOKKOS_LAMBDA(signed char x) { return static_cast<signed char>(2 * x); }, a);
  Kokkos::View<long long, Kokkos::CudaSpace> const sum("sum");
  khs::element_sum(
      "sum", instance, sum, KOKKOS_LAMBDA(signed char x) { return x; }, a);
  long long result = 0, by_index = 0;
  khs::parallel_reduce(
      "by index", instance, std::int64_t(n),
      KOKKOS_LAMBDA(std::int64_t i, long long& s) { s += a(i); }, by_index);
  Kokkos::deep_copy(result, sum);
  CHECK(result == 2 * static_cast<long long>(n));
  CHECK(by_index == result);
}

TEST_CASE("more indices than one kernel can count run as several kernels",
          "[parallel_kernels_cuda][large]") {
  std::int64_t const per_kernel = (std::int64_t(1) << 32) - 1024, n = per_kernel + 300;
  Kokkos::View<int, Kokkos::CudaSpace> const count("count");
  khs::parallel_for(
      "many", Kokkos::Cuda(), n, KOKKOS_LAMBDA(std::int64_t k) {
        if (k == 0 || (k >= per_kernel - 2 && k < per_kernel + 1) || k == n - 1)
          Kokkos::atomic_inc(&count());
        if (k < 0 || k >= n) Kokkos::atomic_add(&count(), 1000);
      });
  int result = 0;
  Kokkos::deep_copy(result, count);
  CHECK(result == 5);
}

namespace {

// Three words: a part that is taken too early gives a wrong sum.
struct Three {
  float low, all, high;
};

// Some blocks end a millisecond after the last block.
struct OfLateBlocks {
  int late;
  KOKKOS_FUNCTION void init(Three& to) const { to = {0, 0, 0}; }
  KOKKOS_FUNCTION void join(Three& to, Three const& from) const {
    to = {to.low + from.low, to.all + from.all, to.high + from.high};
  }
  KOKKOS_FUNCTION void operator()(int i, Three& sum) const {
    if (i % late == 0) wait();
    join(sum, {float(i < 1000), 1, float(i >= 1000)});
  }

 private:
  static KOKKOS_FUNCTION void wait() {
    KOKKOS_IF_ON_DEVICE((long long const begin = clock64(); while (clock64() - begin < 2000000);))
  }
};

}  // namespace

TEST_CASE("the last block of a sum waits for parts that come late", "[parallel_kernels_cuda]") {
  int const n = GENERATE(5000, 20000, 300000);  // some blocks, more than a warp has lanes, many
  CAPTURE(n);
  Kokkos::Cuda const instance;
  Kokkos::View<Three, Kokkos::CudaSpace> const sum("sum");
  for (int run = 0; run < 10; ++run) {
    khs::parallel_reduce("late", instance, n, OfLateBlocks{n / 3}, sum);
    khs::parallel_reduce("again", instance, n, OfLateBlocks{n}, sum);
    auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum)();
    CHECK(result.low == 1000);
    CHECK(result.all == float(n));
    CHECK(result.high == float(n - 1000));
  }
}

namespace {

constexpr int turns_of_a_millisecond = 50000;  // of a chain of divisions, some 20 ns each

KOKKOS_FUNCTION double divided(int turns) {
  double value = 3;
  for (int i = 0; i < turns; ++i) value = 1 + 1 / value;
  return value;
}

struct TakeMilliseconds {
  Number number;
  KOKKOS_FUNCTION void operator()(int) const { number() = divided(2 * turns_of_a_millisecond); }
};

// The last index takes so long that the sum waits for it.
struct AddSlowly {
  double number;
  int last, turns;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const {
    sum += i == last && divided(turns) < 0 ? 2 : number;
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
    Number const number("number");
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
  int const n = GENERATE(20000, 1 << 20);  // a few blocks; as many as a launch has at most
  Number const sum("sum");
  BusyDefaultInstance const busy;
  for (int round = 0; round < 3; ++round) {
    DeviceWork::Stream stream(DeviceWork::Stream::Kind::non_blocking);
    Kokkos::Cuda const instance(stream.get());
    for (int again = 0; again < 2; ++again) {
      khs::parallel_reduce("slow", instance, n, AddSlowly{1, n - 1, 20 * turns_of_a_millisecond},
                           sum);
      double result = 0;
      Kokkos::deep_copy(instance, result, sum);
      instance.fence();
      CHECK(result == n);
    }
  }
}

// --- captured sums: graphs that run at the same time, beside sums of a stream ---

namespace {

struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Launchable = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

// A stream that ignores the default stream, and its instance.
struct Place {
  DeviceWork::Stream stream{DeviceWork::Stream::Kind::non_blocking};
  Kokkos::Cuda instance{stream.get()};

  void add(double number, int n, Number const& sum) const {
    khs::parallel_reduce("sum", instance, n, AddSlowly{number, n - 1, 2000}, sum);
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

}  // namespace

TEST_CASE("the first sum of a stream may be captured", "[parallel_kernels_cuda]") {
  int const n = GENERATE(20000, 1 << 20);
  Number const sum("sum");
  Place place;
  auto const graph = place.capture([&] { place.add(1, n, sum); });
  for (int replay = 0; replay < 3; ++replay) {
    Kokkos::deep_copy(place.instance, sum, 0.);
    place.launch(graph);
    place.instance.fence();
    CHECK(value_of(sum) == n);
  }
}

TEST_CASE("sums captured on one stream are launched on others at the same time",
          "[parallel_kernels_cuda]") {
  int const n = elements(GENERATE(20000, 200000)), launches = rounds(250);
  std::array<Number, 4> const sums = {Number("a"), Number("b"), Number("c"), Number("d")};
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
    for (int k = 0; k < 4; ++k) wrong += value_of(sums[std::size_t(k)]) != (k + 1.) * n;
  }
  CHECK(wrong == 0);
}
