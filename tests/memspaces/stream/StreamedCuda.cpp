// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops on a GPU: the same bits as resident data, order with other work, and asynchrony.

#include "../Stall.hpp"
#include "../KokkosTest.hpp"

#include <cuda_runtime_api.h>

namespace {

using Pinned = Kokkos::View<double*, khs::PinnedSpace>;
using Cube   = Kokkos::View<double***, Kokkos::LayoutRight, khs::PinnedSpace>;
using In     = khs::Chunk<double const*>;
using Out    = khs::Chunk<double*>;
using Clock  = std::chrono::steady_clock;

Pinned vector(std::size_t n) {
  return Pinned(Kokkos::view_alloc(Kokkos::WithoutInitializing, "vector"), n);
}

struct Triad {
  template <class U, class V, class W>
  KOKKOS_FUNCTION void operator()(std::int64_t i, U const& b, V const& c, W const& a) const {
    a(i) = b(i) + 3 * c(i);
  }
};

struct Laplace {
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k, U const& u,
                                  V const& v) const {
    v(i, j, k) = 0.4 * u(i, j, k) + 0.1 * (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) +
                                           u(i, j + 1, k) + u(i, j, k - 1) + u(i, j, k + 1));
  }
};

// The body over Views on the device, by a parallel_for.
template <class Body, class... Views>
struct OverViews {
  Body body;
  khs::Impl::ChunkPack<Views...> views;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    views.pass_to([&](Views const&... v) { body(i, v...); });
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    views.pass_to([&](Views const&... v) { body(i, j, k, v...); });
  }
};

template <class View>
auto on_device(View const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::Cuda(), view);
}

template <class View>
bool same_bits(View const& a, View const& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

TEST_CASE("the links of all devices are measured in under 50 ms each, and once",
          "[streamed_cuda]") {
  std::vector<int> devices;
  for (int device = 0; device < Kokkos::num_devices(); ++device) devices.push_back(device);
  Kokkos::deep_copy(vector(1 << 22), 1);  // the pool and the topology are there
  for (double const limit : {0.05, 1e-4}) {
    Kokkos::fence();
    auto const start   = Clock::now();
    auto const weights = khs::Impl::weights_by(khs::Impl::link_rates(devices));
    CHECK(seconds_since(start) < limit * double(devices.size()));
    CHECK(*std::max_element(weights.begin(), weights.end()) == 1);
  }
}

TEST_CASE("a chain has the bits of resident steps", "[streamed_cuda][cuda]") {
  constexpr int n = 67;
  Cube const u("u", n, n, n), v("v", n, n, n), expected("expected", n, n, n);
  for (std::size_t e = 0; e < u.size(); ++e) u.data()[e] = 1. / double(e + 1);
  khs::Box<3> const box({1, 1, 1}, {n - 1, n - 1, n - 1});
  for (int const count : {1, 2, 5}) {
    auto x = on_device(u), y = on_device(u);
    for (int q = 0; q < count; ++q) {
      Kokkos::parallel_for(
          "step",
          Kokkos::MDRangePolicy<Kokkos::Cuda, Kokkos::Rank<3>>({1, 1, 1}, {n - 1, n - 1, n - 1}),
          OverViews<Laplace, decltype(x), decltype(x)>{{}, {x, y}});
      std::swap(x, y);
    }
    Kokkos::deep_copy(expected, x);
    for (khs::Transport const transport : {khs::Transport::staged, khs::Transport::zero_copy}) {
      Kokkos::deep_copy(v, 0);
      khs::StreamOptions<> const options{.transport = transport, .chunk_rows = 5};
      khs::streamed_chain("steps", options, box,
                          khs::steps(count, Laplace(), khs::read(u, khs::halo(1)), khs::write(v)))
          .fence();
      CHECK(same_bits(v, expected));
    }
  }
}

TEST_CASE("a streamed loop is ordered with copies and other loops on its instance, without fences",
          "[streamed_cuda][cuda]") {
  constexpr int n             = 1 << 20;
  Kokkos::Cuda const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1)[1];
  Pinned const a = vector(n), b = vector(n), c = vector(n);
  Kokkos::View<double*, Kokkos::CudaSpace> const device("device", n);
  khs::StreamOptions<Kokkos::Cuda> options{.chunk_rows = 30000, .instances = {instance}};
  auto const add_one = KOKKOS_LAMBDA(std::int64_t i, In x, Out y) { y(i) = x(i) + 1; };
  for (khs::Transport const transport : {khs::Transport::staged, khs::Transport::zero_copy}) {
    options.transport = transport;
    Kokkos::deep_copy(a, -1);
    Kokkos::deep_copy(device, 5);
    Kokkos::fence();
    Kokkos::deep_copy(instance, a, device);
    (void)khs::streamed_for("first", options, n, add_one, khs::read(a), khs::write(b));
    (void)khs::streamed_for("second", options, n, add_one, khs::read(b), khs::write(c));
    Kokkos::deep_copy(instance, device, c);
    (void)khs::streamed_for("third", options, n, add_one, khs::read(c), khs::write(a));
    Kokkos::deep_copy(instance, c, device);
    instance.fence();
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += a(i) != 8 || c(i) != 7;
    CHECK(wrong == 0);
  }
}

TEST_CASE("a streamed loop returns before it has run, and waits for its instance alone",
          "[streamed_cuda][async][cuda]") {
  constexpr int n      = 1 << 20;
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  Pinned const a = vector(n), b = vector(n);
  auto const add_one = KOKKOS_LAMBDA(std::int64_t i, In x, Out y) { y(i) = x(i) + 1; };
  auto const run     = [&](Kokkos::Cuda const& instance) {
    khs::StreamOptions<Kokkos::Cuda> const options{
            .transport = khs::Transport::staged, .chunk_rows = n / 8, .instances = {instance}};
    return khs::streamed_for("add", options, n, add_one, khs::read(a), khs::write(b));
  };
  khs::StreamedLoop const warm_up[] = {run(instances[0]), run(instances[1])};
  for (auto const& loop : warm_up) loop.fence();
  Kokkos::deep_copy(a, 3);
  Kokkos::deep_copy(b, 0);
  {
    Stall stall(instances[0]);
    auto const start             = Clock::now();
    khs::StreamedLoop const loop = run(instances[0]);
    CHECK(seconds_since(start) < 0.2);
    CHECK_FALSE(loop.is_done());
    CHECK(b(n - 1) == 0);
    run(instances[1]).fence();
    CHECK(b(n - 1) == 4);
    CHECK_FALSE(loop.is_done());
    stall.open();
    loop.fence();
    CHECK(loop.is_done());
  }
  CHECK(b(0) == 4);
}

TEST_CASE("two equal streamed loops at once end within a tenth of each other",
          "[streamed_cuda][async][cuda]") {
  constexpr std::size_t n = std::size_t(1) << 25;
  auto const instances    = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  Pinned const b = vector(n), c = vector(n), to[2] = {vector(n), vector(n)};
  Kokkos::deep_copy(b, 1.);
  Kokkos::deep_copy(c, 2.);
  double ends[2] = {};
  for (int round = 0; round < 2; ++round) {  // the first one gets device memory
    khs::StreamedLoop loops[2];
    auto const start = Clock::now();
    for (int l = 0; l < 2; ++l)
      loops[l] =
          khs::streamed_for<khs::Staged>("triad", instances[std::size_t(l)], std::int64_t(n),
                                         Triad(), khs::read(b), khs::read(c), khs::write(to[l]));
    bool done[2] = {};
    while (!done[0] || !done[1]) {
      for (int l = 0; l < 2; ++l) {
        if (done[l] || !loops[l].is_done()) continue;
        done[l] = true;
        ends[l] = seconds_since(start);
      }
    }
    for (khs::StreamedLoop const& loop : loops) loop.fence();
  }
  CAPTURE(ends[0], ends[1]);
  CHECK(std::max(ends[0], ends[1]) <= 1.1 * std::min(ends[0], ends[1]));
  CHECK(to[1](n - 1) == 1 + 3 * 2);
}

TEST_CASE("a small copy that is enqueued behind a large streamed loop does not wait for its end",
          "[streamed_cuda][async][cuda]") {
  constexpr std::size_t n = std::size_t(1) << 26;
  auto const instances    = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  Pinned const b = vector(n), c = vector(n), to = vector(n), small = vector(1000);
  Kokkos::View<double*, Kokkos::CudaSpace> const on_device("on_device", 1000);
  double copied = 0, ended = 0;
  for (int round = 0; round < 2; ++round) {  // the first one gets device memory
    auto const start = Clock::now();
    khs::StreamedLoop const loop =
        khs::streamed_for<khs::Staged>("triad", instances[0], std::int64_t(n), Triad(),
                                       khs::read(b), khs::read(c), khs::write(to));
    Kokkos::deep_copy(instances[1], on_device, small);
    instances[1].fence();
    copied = seconds_since(start);
    loop.fence();
    ended = seconds_since(start);
  }
  CAPTURE(copied, ended);
  CHECK(copied < ended / 2);
}

TEST_CASE("reductions are the same bits in every run and by every transport",
          "[streamed_cuda][cuda]") {
  constexpr int n = 3000017;
  Pinned const a  = vector(n);
  for (int i = 0; i < n; ++i) a(i) = 1. / (i + 1);
  double first = 0;
  for (int round = 0; round < 6; ++round) {
    double sum = 0;
    khs::StreamOptions<> const options{
        .transport  = round % 2 == 0 ? khs::Transport::staged : khs::Transport::zero_copy,
        .chunk_rows = 100000};
    khs::streamed_reduce(
        "sum", options, n, KOKKOS_LAMBDA(std::int64_t i, In x, double& s) { s += x(i); },
        Kokkos::Sum<double>(sum), khs::read(a));
    if (round == 0) first = sum;
    CHECK(sum == first);
  }
  CHECK(std::abs(first - 15.491) < 0.01);
}

TEST_CASE("devices share a loop, in place and with halos", "[streamed_cuda][cuda]") {
  int const devices = Kokkos::num_devices();
  if (devices < 2) SKIP("needs two devices");
  std::vector<cudaStream_t> streams(static_cast<std::size_t>(devices));
  for (int device = devices - 1; device >= 0; --device) {  // the first one is current afterwards
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    REQUIRE(cudaStreamCreate(&streams[std::size_t(device)]) == cudaSuccess);
  }
  {
    constexpr int n = 1000003;
    Pinned const a = vector(n), b = vector(n);
    auto const add = KOKKOS_LAMBDA(std::int64_t i, In x, Out y) {
      y(i) = x(i) + (i > 0 ? x(i - 1) : 0) + (i + 1 < n ? x(i + 1) : 0);
    };
    khs::StreamOptions<> one{.transport = khs::Transport::staged, .chunk_rows = 10001}, more = one;
    for (int count = 2; count <= devices; ++count) {
      more.instances.clear();
      for (int device = 0; device < count; ++device)
        more.instances.emplace_back(streams[std::size_t(device)]);
      for (int i = 0; i < n; ++i) a(i) = b(i) = i % 1000;
      for (int round = 0; round < 3; ++round) {
        khs::streamed_for("one", one, n, add, khs::read(a, khs::halo(1)), khs::write(a)).fence();
        khs::streamed_for("more", more, n, add, khs::read(b, khs::halo(1)), khs::write(b)).fence();
        CAPTURE(count, round);
        CHECK(same_bits(a, b));
      }
      for (int i = 0; i < n; ++i) a(i) = 1. / (i + 1);
      double sum = 0, shared_sum = 0;
      auto const total = KOKKOS_LAMBDA(std::int64_t i, In x, double& s) { s += x(i); };
      khs::streamed_reduce("one", one, n, total, Kokkos::Sum<double>(sum), khs::read(a));
      khs::streamed_reduce("more", more, n, total, Kokkos::Sum<double>(shared_sum), khs::read(a));
      CHECK(shared_sum == sum);  // the same chunks, joined in the same order
    }
    khs::release_stream_memory();
  }
  for (cudaStream_t stream : streams) REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

// --- kinds of memory, and what is kept on the device ---

namespace {

// A byte that tells of its place.
KOKKOS_FUNCTION unsigned char mark(std::int64_t i) { return static_cast<unsigned char>(i % 251); }

struct Mark {
  template <class Bytes>
  KOKKOS_FUNCTION void operator()(std::int64_t i, Bytes const& bytes) const {
    bytes(i) = static_cast<unsigned char>(bytes(i) + mark(i));
  }
};

struct CountWrong {
  template <class Bytes>
  KOKKOS_FUNCTION void operator()(std::int64_t i, Bytes const& bytes, std::int64_t& wrong) const {
    wrong += bytes(i) != mark(i);
  }
};

}  // namespace

TEST_CASE("a loop over more elements than 31 bits count reaches each of them once",
          "[streamed_cuda][large][cuda]") {
  std::int64_t const n = (std::int64_t(1) << 31) + 12345;
  Kokkos::View<unsigned char*, khs::PinnedSpace> const bytes("bytes", std::size_t(n));
  khs::streamed_for<khs::Staged>("mark", n, Mark(), khs::update(bytes)).fence();
  std::int64_t wrong = -1;
  khs::streamed_reduce<khs::Staged>("count", n, CountWrong(), Kokkos::Sum<std::int64_t>(wrong),
                                    khs::read(bytes));
  CHECK(wrong == 0);
  for (std::int64_t i :
       {std::int64_t(0), n / 2, (std::int64_t(1) << 31) - 1, std::int64_t(1) << 31, n - 1})
    CHECK(bytes(std::size_t(i)) == mark(i));
}

TEST_CASE("memory of any kind that the host has is streamed", "[streamed_cuda][cuda]") {
  constexpr int n = 100003;
  Kokkos::View<double*, Kokkos::CudaHostPinnedSpace> const b("b", n);
  std::vector<double> registered(n), pageable(n);
  khs::Registration const pages(registered.data(), n * sizeof(double));
  auto const c = pages.view<double*>(n);
  Kokkos::View<double*, khs::WriteCombinedSpace> const combined("combined", n);
  Kokkos::View<double*, khs::MappedSpace> const mapped("mapped", n);
  Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(pageable.data(), n);
  for (int i = 0; i < n; ++i) {
    b(i) = i;
    c(i) = 2 * i;
  }
  khs::StreamOptions<> options{.transport = khs::Transport::staged, .chunk_rows = 10001};
  int wrong      = 0;
  auto const run = [&](auto const& to) {
    khs::streamed_for("triad", options, n, Triad(), khs::read(b), khs::read(c), khs::write(to))
        .fence();
    for (int i = 0; i < n; ++i) wrong += to(i) != i + 3 * (2 * i);
  };
  run(host);
  for (khs::Transport const transport : {khs::Transport::staged, khs::Transport::zero_copy}) {
    options.transport = transport;
    run(combined);
    run(mapped);
    khs::streamed_for("triad", options, n, Triad(), khs::read(combined), khs::read(mapped),
                      khs::write(c))
        .fence();
    for (int i = 0; i < n; ++i) wrong += c(i) != combined(i) + 3 * mapped(i);
    for (int i = 0; i < n; ++i) c(i) = 2 * i;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a resident View has what its instance was given before, and captures are refused",
          "[streamed_cuda][capture][cuda]") {
  constexpr int n             = 1 << 20;
  Kokkos::Cuda const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1)[1];
  Kokkos::View<double*, khs::PinnedSpace> const a("a", n), b("b", n), table("table", n);
  Kokkos::View<double*, Kokkos::CudaSpace> const device("device", n);
  Kokkos::deep_copy(b, 1);
  Kokkos::deep_copy(table, 0);
  Kokkos::deep_copy(device, 2);
  Kokkos::fence();
  auto const kept = khs::resident(table);
  auto const run  = [&] {
    return khs::streamed_for<khs::Staged>("triad", instance, n, Triad(), khs::read(b),
                                          khs::read(kept), khs::write(a));
  };
  cudaStream_t const stream = instance.cuda_stream();
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK_THROWS_AS(run(), khs::Error);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  for (int copy = 0; copy < 20; ++copy) Kokkos::deep_copy(instance, table, device);
  run().fence();
  CHECK(a(0) == 7);
  CHECK(a(n - 1) == 7);
}
