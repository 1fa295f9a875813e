// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a deep_copy_all asks of the CUDA runtime.

#include "BatchPieces.hpp"
#include "../DriverSpy.hpp"

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>
#include <cuda_runtime_api.h>

#include <set>
#include <vector>

namespace BatchCalls {
namespace khs = KokkosHostSpaces;
namespace {
constexpr int n = 300;
using Range     = std::pair<int, int>;

template <class Space>
using Matrix = Kokkos::View<int**, Kokkos::LayoutRight, Space>;

}  // namespace

TEST_CASE("deep_copy_all asks the driver once for neighbours, and once for equal rows",
          "[driver_calls][cuda]") {
  Matrix<khs::PinnedSpace> const host("host", n, n);
  Matrix<Kokkos::CudaSpace> const device("device", n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) host(i, j) = n * i + j;
  auto const rows = [](auto const& view, Range columns) {
    std::vector<decltype(Kokkos::subview(view, 0, columns))> result;
    for (int i = 0; i < n; ++i) result.push_back(Kokkos::subview(view, i, columns));
    return result;
  };
  Kokkos::Cuda const instance;
  for (Range const& columns : {Range(0, n), Range(10, 110)}) {
    DriverSpy const spy;
    khs::deep_copy_all(instance, rows(device, columns), rows(host, columns));
    CHECK(spy.copies == 1);
    CHECK(spy.batches == 0);
    CHECK(spy.bytes == sizeof(int) * n * std::size_t(columns.second - columns.first));
  }
  Matrix<khs::PinnedSpace> const back("back", n, n);
  khs::deep_copy_all(instance, rows(back, Range(0, n)), rows(device, Range(0, n)));
  instance.fence();
  CHECK(back(n - 1, n - 1) == n * n - 1);
}

TEST_CASE("deep_copy_all takes a kernel for short pieces, and a call for long ones",
          "[driver_calls][cuda]") {
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  auto const calls     = [&](std::size_t bytes, auto&& check) {
    Pieces const pieces(100, bytes);
    DriverSpy const spy;
    khs::deep_copy_all(instances[1], pieces.devices, pieces.sources);
    khs::deep_copy_all(instances[1], pieces.backs, pieces.devices);
    check(spy);
    instances[1].fence();
    CHECK(pieces.came_back());
  };
  calls(3000, [](DriverSpy const& spy) { CHECK((spy.copies == 0 && spy.batches == 0)); });
  calls(300000, [&](DriverSpy const& spy) {
#if CUDART_VERSION >= 13000
    CHECK(spy.copies == 0);
    CHECK(spy.batches == 2);
#endif
    CHECK(spy.streams == std::set<void*>{instances[1].cuda_stream()});
  });
}

TEST_CASE("a single short piece goes to the device by the call for many, others by a copy",
          "[driver_calls][cuda]") {
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1)[1];
  for (std::size_t const bytes : {8, 512, 513}) {
    Pieces const pieces(1, bytes);
    auto const again = khs::prepare_deep_copy_all(instance, pieces.devices, pieces.sources);
    DriverSpy const spy;
    khs::deep_copy_all(instance, pieces.devices, pieces.sources);
    khs::deep_copy_all(instance, again);
    khs::deep_copy_all(instance, pieces.backs, pieces.devices);
#if CUDART_VERSION >= 13000
    CHECK((spy.batches == (bytes > 512 ? 0 : 2) && spy.copies == (bytes > 512 ? 3 : 1)));
#endif
    instance.fence();
    CHECK(pieces.came_back());
  }
}

TEST_CASE("deep_copy_all on the legacy default stream needs no call that it does not take",
          "[driver_calls][cuda]") {
  for (std::size_t const bytes : {3000, 300000}) {
    Pieces const pieces(100, bytes);
    Kokkos::Cuda const instance(static_cast<cudaStream_t>(nullptr));
    DriverSpy const spy;
    khs::deep_copy_all(instance, pieces.devices, pieces.sources);
    khs::deep_copy_all(instance, pieces.backs, pieces.devices);
    CHECK(spy.batches == 0);
    CHECK(spy.copies == (bytes == 3000 ? 0 : 200));
    instance.fence();
    CHECK(pieces.came_back());
  }
}

TEST_CASE(
    "deep_copy_all is captured in a graph: short pieces as one kernel, long ones by themselves",
    "[driver_calls][cuda]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  for (bool const prepared : {false, true})
    for (std::size_t const bytes : {3000, 300000}) {
      INFO((prepared ? "prepared, " : "") << "pieces of " << bytes << " bytes");
      Kokkos::Cuda const instance(stream);
      Pieces const pieces(100, bytes);
      cudaGraph_t graph = nullptr;
      {
        auto const there = khs::prepare_deep_copy_all(instance, pieces.devices, pieces.sources);
        auto const back  = khs::prepare_deep_copy_all(instance, pieces.backs, pieces.devices);
        DriverSpy const spy;
        REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        if (prepared) {
          khs::deep_copy_all(instance, there);
          khs::deep_copy_all(instance, back);
        } else {
          khs::deep_copy_all(instance, pieces.devices, pieces.sources);
          khs::deep_copy_all(instance, pieces.backs, pieces.devices);
        }
        REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
        CHECK(spy.copies == (bytes == 3000 ? 0 : 200));
      }
      std::size_t nodes = 0;
      REQUIRE(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
      CHECK(nodes == (bytes == 3000 ? 2 : 200));
      cudaGraphExec_t runnable = nullptr;
      REQUIRE(cudaGraphInstantiate(&runnable, graph, 0) == cudaSuccess);
      REQUIRE(cudaGraphLaunch(runnable, stream) == cudaSuccess);
      REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
      CHECK(pieces.came_back());
      cudaGraphExecDestroy(runnable);
      cudaGraphDestroy(graph);
    }
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("prepared short pieces are one launch of a graph, and long ones one call",
          "[driver_calls][cuda]") {
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  auto const calls     = [&](std::size_t count, std::size_t bytes, auto&& check) {
    Pieces const pieces(count, bytes);
    auto const there = khs::prepare_deep_copy_all(instances[1], pieces.devices, pieces.sources);
    auto const back  = khs::prepare_deep_copy_all(instances[1], pieces.backs, pieces.devices);
    for (int step = 0; step < 3; ++step) {
      for (std::size_t i = 0; i < pieces.host.size(); ++i) pieces.host(i) = char(3 * i + step);
      Kokkos::deep_copy(pieces.back, 0);
      DriverSpy const spy;
      khs::deep_copy_all(instances[1], there);
      khs::deep_copy_all(instances[1], back);
      check(spy);
      instances[1].fence();
      CHECK(pieces.came_back());
    }
  };
  auto const is_two_launches = [](DriverSpy const& spy) {
    CHECK((spy.launches == 2 && spy.copies == 0 && spy.batches == 0));
  };
#if CUDART_VERSION >= 13000
  calls(2, 64, [](DriverSpy const& spy) {  // few to a device: in a row that is faster
    CHECK((spy.launches == 1 && spy.copies == 0 && spy.batches == 1));
  });
#endif
  calls(4, 64, is_two_launches);
  // Early kernels are launched by the driver.
  calls(4, 600, [](DriverSpy const& spy) { CHECK((spy.copies == 0 && spy.batches == 0)); });
  calls(20, 64, is_two_launches);
  calls(100, 3000, is_two_launches);
  calls(4096, 64, is_two_launches);
  calls(100, 300000, [&](DriverSpy const& spy) {
    CHECK(spy.launches == 0);
#if CUDART_VERSION >= 13000
    CHECK(spy.copies == 0);
    CHECK(spy.batches == 2);
#endif
  });
}

TEST_CASE("few prepared pieces are one launch where the driver takes no call for many",
          "[driver_calls][cuda]") {
  Pieces const pieces(4, 64);
  Kokkos::Cuda const instance(static_cast<cudaStream_t>(nullptr));
  auto const there = khs::prepare_deep_copy_all(instance, pieces.devices, pieces.sources);
  DriverSpy const spy;
  khs::deep_copy_all(instance, there);
  CHECK((spy.launches == 1 && spy.copies == 0 && spy.batches == 0));
  khs::deep_copy_all(instance, pieces.backs, pieces.devices);
  instance.fence();
  CHECK(pieces.came_back());
}

TEST_CASE("lists of batches are no memory that is missing", "[driver_calls][cuda]") {
  Kokkos::Cuda const instance;
  Pieces const pieces(4000, 64);
  khs::pool::trim(0);
  std::size_t const before = khs::pool::statistics().total.bytes_in_use;
  khs::deep_copy_all(instance, pieces.devices, pieces.sources);
  CHECK(khs::pool::statistics().total.bytes_in_use > before);
  khs::deep_copy_all(instance, pieces.backs, pieces.devices);
  khs::pool::trim(0);  // while kernels may read them
  CHECK(khs::pool::statistics().total.bytes_in_use == before);
  khs::deep_copy_all(instance, pieces.backs, pieces.devices);
  instance.fence();
  CHECK(pieces.came_back());
  khs::pool::trim(0);
}

TEST_CASE("prepared copies run on several instances, and may go at once", "[driver_calls][cuda]") {
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  Pieces const pieces(2000, 200);
  auto const back = khs::prepare_deep_copy_all(Kokkos::Cuda(), pieces.backs, pieces.devices);
  for (int round = 0; round < 50; ++round) {
    auto const& instance = instances[round % 2];
    {
      auto const there = khs::prepare_deep_copy_all(instance, pieces.devices, pieces.sources);
      for (std::size_t i = 0; i < pieces.host.size(); ++i) pieces.host(i) = char(i + round);
      Kokkos::deep_copy(pieces.back, 0);
      khs::deep_copy_all(instance, there);
    }
    khs::deep_copy_all(instance, back);
    instance.fence();
    REQUIRE(pieces.came_back());
  }
}

TEST_CASE("copies cannot be prepared in a capture, nor run on another device",
          "[driver_calls][cuda]") {
  Pieces const pieces(100, 200);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  {
    Kokkos::Cuda const instance(stream);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK_THROWS_AS((void)khs::prepare_deep_copy_all(instance, pieces.devices, pieces.sources),
                    khs::Error);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    cudaGraphDestroy(graph);
  }
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  int devices = 0;
  REQUIRE(cudaGetDeviceCount(&devices) == cudaSuccess);
  if (devices < 2) return;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  {
    Kokkos::Cuda const other(stream);
    auto const there = khs::prepare_deep_copy_all(Kokkos::Cuda(), pieces.devices, pieces.sources);
    CHECK_THROWS_AS(khs::deep_copy_all(other, there), khs::Error);
    using Device = Kokkos::View<char*, Kokkos::Device<Kokkos::Cuda, Kokkos::CudaSpace>>;
    std::vector<Device> devices_parts;
    Device const on_other(Kokkos::view_alloc(other, "on_other"), pieces.slot * 100);
    for (std::size_t k = 0; k < 100; ++k)
      devices_parts.push_back(Kokkos::subview(
          on_other, std::pair(pieces.slot * k, pieces.slot * k + pieces.lengths[k])));
    auto const in  = khs::prepare_deep_copy_all(other, devices_parts, pieces.sources);
    auto const out = khs::prepare_deep_copy_all(other, pieces.backs, devices_parts);
    khs::deep_copy_all(other, in);
    khs::deep_copy_all(other, out);
    other.fence();
    CHECK(pieces.came_back());
  }
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("Views with memory of their own each are copied at once, whatever their distances",
          "[driver_calls][cuda]") {
  std::vector<Kokkos::View<int*, khs::PinnedSpace>> host, back;
  std::vector<Kokkos::View<int*, Kokkos::CudaSpace>> device;
  for (int length : {64, 1024, 20000}) {
    host.clear(), back.clear(), device.clear();
    for (int k = 0; k < 100; ++k) {
      host.emplace_back("host", length);
      back.emplace_back("back", length);
      device.emplace_back("device", length);
      for (int i = 0; i < length; ++i) host[k](i) = 1000 * k + i;
    }
    Kokkos::Cuda const instance;
    khs::deep_copy_all(instance, device, host);
    khs::deep_copy_all(instance, back, device);
    instance.fence();
    int wrong = 0;
    for (int k = 0; k < 100; ++k)
      for (int i = 0; i < length; ++i) wrong += back[k](i) != 1000 * k + i;
    CHECK(wrong == 0);
  }
}
}  // namespace BatchCalls
