// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What slices ask of the CUDA runtime, and of the pool.

#include "../DriverSpy.hpp"

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace SliceCalls {
namespace khs = KokkosHostSpaces;
namespace {

using Host   = Kokkos::View<char*, khs::PinnedSpace>;
using Device = Kokkos::View<char*, Kokkos::CudaSpace>;
using Slices = std::vector<khs::Slice>;

// With gaps at the source, and none on the device, at any addresses.
Slices scattered(std::size_t count, std::size_t bytes) {
  Slices slices;
  for (std::size_t k = 0; k < count; ++k)
    slices.push_back({bytes * k, (2 * bytes + 3) * (k ^ (k >> 1)), bytes - k % 2});
  return slices;
}
Slices turned(Slices slices) {
  for (khs::Slice& slice : slices) std::swap(slice.dst, slice.src);
  return slices;
}

// There, and back to memory of its own.
struct Pieces {
  explicit Pieces(Slices of) : slices(std::move(of)) {
    std::size_t dst_end = 0, src_end = 0;
    for (khs::Slice const& slice : slices) {
      dst_end = std::max(dst_end, slice.dst + slice.count);
      src_end = std::max(src_end, slice.src + slice.count);
    }
    host   = Host("host", src_end);
    back   = Host("back", src_end);
    device = Device("device", dst_end);
    for (std::size_t i = 0; i < src_end; ++i) host(i) = char(1 + i * 2654435761u >> 20);
  }
  void copy(Kokkos::Cuda const& instance) const {
    khs::deep_copy_all(instance, device, host, slices);
    khs::deep_copy_all(instance, back, device, turned(slices));
  }
  bool came_back() const {
    std::vector<char> expected(back.size(), 0);
    for (khs::Slice const& slice : slices)
      std::copy_n(host.data() + slice.src, slice.count,
                  expected.begin() + std::ptrdiff_t(slice.src));
    return std::equal(expected.begin(), expected.end(), back.data());
  }
  Slices slices;
  Host host, back;
  Device device;
};

std::size_t allocations() {
  auto const total = khs::pool::statistics().total;
  return std::size_t(total.hits + total.misses);
}

}  // namespace

TEST_CASE("slices that are neighbours are one copy, with empty ones among them",
          "[driver_calls][cuda]") {
  Kokkos::Cuda const instance;
  for (std::size_t const count : {3, 30, 3000}) {
    Slices slices;
    for (std::size_t k = 0; k < count; ++k) {
      slices.push_back({100 * k, 100 * k, 100});
      if (k % 3 == 1) slices.push_back({0, 0, 0});
    }
    Pieces const pieces(slices);
    for (int time = 0; time < 2; ++time) {
      DriverSpy const spy;
      pieces.copy(instance);
      CHECK(spy.copies + spy.batches == 2);  // what is short goes to a device by the call for many
      CHECK((spy.copies == 2 || count == 3));
      CHECK(spy.bytes == 200 * count);
      instance.fence();
      CHECK(pieces.came_back());
    }
  }
}

TEST_CASE("slices are one kernel, and the same ones again, of any memory, need no list",
          "[driver_calls][cuda]") {
  Kokkos::Cuda const instance;
  std::mt19937 random(7);
  for (bool const are_shuffled : {false, true}) {
    Slices slices = scattered(1000, 64);
    if (are_shuffled) std::shuffle(slices.begin(), slices.end(), random);
    Pieces(slices).copy(instance);
    Pieces const pieces(slices);
    // Where two devices are in use, pieces may be of both, and a list is made for each call.
    bool const is_known      = khs::Impl::CopyBatch::may_merge(instance.cuda_stream());
    std::size_t const before = allocations();
    DriverSpy const spy;
    pieces.copy(instance);
    CHECK((spy.copies == 0 && spy.batches == 0));
    CHECK(allocations() == before + (is_known ? 0 : 2));
    instance.fence();
    CHECK(pieces.came_back());
  }
}

TEST_CASE("rows of slices are one 2-D copy, and long ones one call", "[driver_calls][cuda]") {
  Kokkos::Cuda const instance;
  Slices rows;
  for (std::size_t k = 0; k < 500; ++k) rows.push_back({100 * k, 300 * k, 100});
  for (Slices const& slices : {rows, scattered(100, 300000)}) {
    Pieces const pieces(slices);
    DriverSpy const spy;
    pieces.copy(instance);
    if (slices.size() == rows.size()) CHECK((spy.copies == 2 && spy.batches == 0));
#if CUDART_VERSION >= 13000
    if (slices.size() != rows.size()) CHECK((spy.copies == 0 && spy.batches == 2));
#endif
    instance.fence();
    CHECK(pieces.came_back());
  }
}

TEST_CASE("slices on the legacy default stream need no call that it does not take",
          "[driver_calls][cuda]") {
  Kokkos::Cuda const instance(static_cast<cudaStream_t>(nullptr));
  for (std::size_t const bytes : {3000, 300000}) {
    Pieces const pieces(scattered(100, bytes));
    DriverSpy const spy;
    pieces.copy(instance);
    CHECK(spy.batches == 0);
    CHECK(spy.copies == (bytes == 3000 ? 0 : 200));
    instance.fence();
    CHECK(pieces.came_back());
  }
}

TEST_CASE("slices are captured in a graph, prepared or not, which outlives their list",
          "[driver_calls][cuda]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  {
    Kokkos::Cuda const instance(stream);
    for (bool const prepared : {false, true}) {
      Pieces const pieces(scattered(300, 200));
      pieces.copy(instance);  // so that there is a list, which is not to be captured
      instance.fence();
      Kokkos::deep_copy(pieces.back, 0);
      cudaGraph_t graph = nullptr;
      {
        auto const there =
            khs::prepare_deep_copy_all(instance, pieces.device, pieces.host, pieces.slices);
        auto const back =
            khs::prepare_deep_copy_all(instance, pieces.back, pieces.device, turned(pieces.slices));
        REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        if (prepared) {
          khs::deep_copy_all(instance, there);
          khs::deep_copy_all(instance, back);
        } else {
          pieces.copy(instance);
        }
        REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
      }
      std::size_t nodes = 0;
      REQUIRE(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
      CHECK(nodes == 2);
      khs::pool::trim(0);
      cudaGraphExec_t runnable = nullptr;
      REQUIRE(cudaGraphInstantiate(&runnable, graph, 0) == cudaSuccess);
      REQUIRE(cudaGraphLaunch(runnable, stream) == cudaSuccess);
      REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
      CHECK(pieces.came_back());
      cudaGraphExecDestroy(runnable);
      cudaGraphDestroy(graph);
    }
  }
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("prepared slices are one launch of a graph", "[driver_calls][cuda]") {
  Kokkos::Cuda const instance;
  Pieces const pieces(scattered(4096, 64));
  auto const there =
      khs::prepare_deep_copy_all(instance, pieces.device, pieces.host, pieces.slices);
  for (int time = 0; time < 2; ++time) {
    DriverSpy const spy;
    khs::deep_copy_all(instance, there);
    CHECK((spy.launches == 1 && spy.copies == 0 && spy.batches == 0));
  }
  khs::deep_copy_all(instance, pieces.back, pieces.device, turned(pieces.slices));
  instance.fence();
  CHECK(pieces.came_back());
}

}  // namespace SliceCalls
