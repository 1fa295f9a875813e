// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pool never hands out memory that device work may still touch, on a GPU.

#include "../Stall.hpp"
#include "../KokkosTest.hpp"

#include <cuda_runtime_api.h>

namespace {

using Mapped = Kokkos::View<int*, khs::MappedSpace>;

// Waits for the gate, at most some seconds, then counts the elements of `data` that are not `expected`.
struct DelayedReader {
  Kokkos::View<int*, khs::MappedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> gate, data;
  Kokkos::View<int, Kokkos::CudaSpace> wrong;
  int expected;
  KOKKOS_FUNCTION void operator()(int) const {
    int const volatile* const flag = gate.data();
    for (long long spins = 0; *flag == 0 && spins < 2000000LL; ++spins) {
    }
    for (std::size_t i = 0; i < data.extent(0); ++i)
      if (data(i) != expected) ++wrong();
  }
};

// Runs until the flag is set, at most some minutes.
struct Endless {
  Kokkos::View<int, khs::MappedSpace> stop;
  KOKKOS_FUNCTION void operator()(int) const {
    int const volatile* const flag = stop.data();
    for (long long spins = 0; *flag == 0 && spins < 100000000LL; ++spins) {
    }
  }
};

// Calls `meanwhile` while the reader waits; returns the reader's count.
template <class Meanwhile>
int wrong_after(Mapped data, Meanwhile const& meanwhile) {
  Kokkos::Cuda const instance;
  Mapped const gate("gate", 1);
  Kokkos::View<int, Kokkos::CudaSpace> const wrong("wrong");
  Kokkos::deep_copy(data, 1);
  Kokkos::parallel_for("delayed_reader", Kokkos::RangePolicy<Kokkos::Cuda>(instance, 0, 1),
                       DelayedReader{gate, data, wrong, 1});
  meanwhile(data);
  std::atomic_ref<int>(gate(0)).store(1);
  instance.fence();
  int result = 0;
  Kokkos::deep_copy(result, wrong);
  return result;
}

constexpr int n = 1 << 20;

}  // namespace

TEST_CASE(
    "a delayed kernel finds the bytes of a View that was destroyed or retired, while new Views are written",
    "[pool_cuda]") {
  bool const retires = GENERATE(false, true);
  bool reused        = true;
  int const wrong    = wrong_after(Mapped("data", n), [&](Mapped& data) {
    auto const* const address = data.data();
    if (retires)
      khs::pool::retire_on(Kokkos::Cuda(), std::move(data));
    else
      data = {};
    std::vector<Mapped> fresh;
    for (int i = 0; i < 8; ++i)
      fresh.emplace_back(Kokkos::view_alloc("fresh", Kokkos::WithoutInitializing), n);
    reused = false;
    for (Mapped const& view : fresh) {
      reused = reused || view.data() == address;
      for (int i = 0; i < n; ++i) view(i) = 7;
    }
  });
  CHECK_FALSE(reused);
  CHECK(wrong == 0);
}

TEST_CASE("beside a kernel that never ends, Views retired on another instance are used again",
          "[endless]") {
  constexpr std::size_t at_once = 64, bytes = 256 << 10;
  using Buffer         = Kokkos::View<char*, khs::PinnedSpace>;
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  Kokkos::View<int, khs::MappedSpace> const stop("stop");
  Kokkos::View<char*, Kokkos::CudaSpace> const device("device", bytes);
  auto const buffer = [] {
    return Buffer(Kokkos::view_alloc("buffer", Kokkos::WithoutInitializing), bytes);
  };
  Kokkos::fence();
  khs::pool::trim(0);
  std::size_t const before = khs::pool::statistics().total.bytes_locked;
  Kokkos::parallel_for("endless", Kokkos::RangePolicy<Kokkos::Cuda>(instances[0], 0, 1),
                       Endless{stop});
  for (int i = 0; i < 1000000; ++i) {
    Buffer view = buffer();
    Kokkos::deep_copy(instances[1], device, view);
    khs::pool::retire_on(instances[1], std::move(view));
    if (i % at_once == 0) instances[1].fence();
  }
  std::size_t const locked = khs::pool::statistics().total.bytes_locked;
  CHECK(locked - before <= 2 * at_once * bytes);

  // All other Views wait for the kernel: the pool grows to its limit.
  khs::pool::set_limit(locked + (16 << 20));
  auto const start = std::chrono::steady_clock::now();
  std::string message;
  try {
    for (int i = 0; i < 1000; ++i) Kokkos::deep_copy(instances[1], device, buffer());
  } catch (khs::OutOfPinnedMemory const& error) {
    message = error.what();
  }
  CHECK(message.find("work of device 0 does not end") != std::string::npos);
  CHECK(seconds_since(start) < 10);
  CHECK(khs::pool::statistics().seconds_oldest_retired >= 1);
  std::atomic_ref<int>(stop()).store(1);
  Kokkos::fence();
  CHECK(buffer().data() != nullptr);
  khs::pool::set_limit(0);
}

TEST_CASE("control: the delayed kernel notices memory that is written too early",
          "[pool_cuda][async]") {
  int const wrong = wrong_after(Mapped("data", n), [](Mapped const& data) {
    for (int i = 0; i < n; ++i) data(i) = 7;
  });
  CHECK(wrong > 0);
}

TEST_CASE("destroying a View does not wait for a running kernel", "[pool_cuda][async]") {
  std::optional<Mapped> doomed(std::in_place, "doomed", n);
  double waited = 0;
  wrong_after(Mapped("data", 16), [&](Mapped const&) {
    auto const start = std::chrono::steady_clock::now();
    doomed.reset();
    waited = seconds_since(start);
  });
  CHECK(waited < 1e-3);  // the kernel runs for seconds
}

TEST_CASE(
    "Views may be destroyed while a stream captures; the capture survives, and the memory comes "
    "back",
    "[pool_cuda][capture]") {
  bool const blocking = GENERATE(true, false);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(
              &stream, blocking ? cudaStreamDefault : cudaStreamNonBlocking) == cudaSuccess);
  std::optional<Mapped> doomed(std::in_place, "doomed", n);
  void* device = nullptr;
  REQUIRE(cudaMalloc(&device, 64) == cudaSuccess);
  Kokkos::fence();
  auto const state_of_doomed = [address = doomed->data()] {
    auto const description = khs::pool::describe(static_cast<void const*>(address));
    return description ? std::optional(description->state) : std::nullopt;
  };
  {
    std::optional<khs::pool::CaptureGuard> announced;
    if (!blocking) announced.emplace();
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(device, 0, 64, stream) == cudaSuccess);
    doomed.reset();
    // More than the ready blocks, so that pages must be locked during the capture.
    Mapped const meanwhile(Kokkos::view_alloc("meanwhile", Kokkos::WithoutInitializing), 64 * n);
    CHECK(state_of_doomed() == khs::pool::State::retired);
    REQUIRE(cudaMemsetAsync(device, 1, 64, stream) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    std::size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
    CHECK(nodes == 2);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  }
  Kokkos::fence();
  khs::pool::trim(0);  // returns ready memory to the system
  CHECK_FALSE(state_of_doomed().has_value());
  CHECK(cudaFree(device) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("resize and realloc, by an instance or not, leave memory on its NUMA node",
          "[pool_cuda]") {
  auto const node_of = [](auto const& view) { return khs::pool::describe(view)->numa_node; };
  using View         = Kokkos::View<int*, khs::PinnedSpace>;
  auto const near    = [](int device) {
    return View(Kokkos::view_alloc("near", khs::PinnedSpace(device)), 10000);
  };
  int devices = 0;
  REQUIRE(cudaGetDeviceCount(&devices) == cudaSuccess);
  int far = 0;
  while (far < devices && node_of(near(far)) == node_of(near(0))) ++far;
  if (far == devices) SKIP("needs devices near two nodes");
  View view      = near(far);
  int const node = node_of(view);
  Kokkos::resize(Kokkos::view_alloc(Kokkos::Cuda()), view, 20000);
  CHECK(node_of(view) == node);
  Kokkos::realloc(Kokkos::view_alloc(Kokkos::Cuda()), view, 30000);
  CHECK(node_of(view) == node);
  Kokkos::resize(view, 40000);
  CHECK(node_of(view) == node);
  Kokkos::realloc(Kokkos::view_alloc(Kokkos::WithoutInitializing), view, 50000);
  CHECK(node_of(view) == node);
  Kokkos::fence();
}

// Allocations query a busy device at growing intervals.
static void allocate_often() {
  for (int i = 0; i < 20; ++i)
    Kokkos::View<int*, khs::PinnedSpace>(Kokkos::view_alloc("often", Kokkos::WithoutInitializing),
                                         10);
}

TEST_CASE(
    "allocations prepare a source file for captures once, on an idle device, and break no capture",
    "[pool_cuda][capture]") {
  static int prepared = 0;
  auto const prepare  = [] { ++prepared; };
  prepared            = 0;
  std::optional<khs::Impl::LockArrayInit> source, unloaded;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph   = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  Kokkos::fence();
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  source.emplace(prepare);
  unloaded.emplace(prepare);
  allocate_often();
  CHECK(prepared == 0);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  unloaded.reset();
  source.emplace(prepare);
  allocate_often();
  CHECK(prepared == 1);
  allocate_often();
  CHECK(prepared == 1);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}
