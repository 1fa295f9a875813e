// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What streamed loops on a GPU read and write: all kinds of memory of the host, and what is kept there.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>
#include <cuda_runtime_api.h>

#include <vector>

namespace khs = KokkosHostSpaces;

namespace {

struct Weighted {
  template <class U, class V, class W>
  KOKKOS_FUNCTION void operator()(std::int64_t i, U const& b, V const& c, W const& a) const {
    a(i) = b(i) + 3 * c(i);
  }
};

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
    khs::streamed_for("triad", options, n, Weighted(), khs::read(b), khs::read(c), khs::write(to))
        .fence();
    for (int i = 0; i < n; ++i) wrong += to(i) != i + 3 * (2 * i);
  };
  run(host);
  for (khs::Transport const transport : {khs::Transport::staged, khs::Transport::zero_copy}) {
    options.transport = transport;
    run(combined);
    run(mapped);
    khs::streamed_for("triad", options, n, Weighted(), khs::read(combined), khs::read(mapped),
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
    return khs::streamed_for<khs::Staged>("triad", instance, n, Weighted(), khs::read(b),
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
