// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// On which device a copy runs, where there are two.

#include "DriverSpy.hpp"

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>
#include <cuda_runtime_api.h>

#include <atomic>
#include <set>

namespace khs = KokkosHostSpaces;

TEST_CASE("a copy without an instance runs on the device whose memory it is",
          "[driver_calls][cuda]") {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) SKIP("needs two devices");
  Kokkos::View<int*, khs::PinnedSpace> const host("host", 1000);
  auto const streams_for = [&](int device) {
    cudaStream_t stream = nullptr;
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    std::set<void*> used;
    {
      Kokkos::Cuda const instance(stream);
      Kokkos::View<int*, Kokkos::CudaSpace> const there(Kokkos::view_alloc(instance, "there"),
                                                        1000);
      instance.fence();
      REQUIRE(cudaSetDevice(0) == cudaSuccess);
      for (int i = 0; i < 1000; ++i) host(i) = i + device;
      DriverSpy const spy;
      Kokkos::deep_copy(there, host);
      Kokkos::deep_copy(host, 0);
      Kokkos::deep_copy(host, there);
      CHECK(host(999) == 999 + device);
      used = spy.streams;
    }
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
    return used;
  };
  std::set<void*> const first = streams_for(0), second = streams_for(1);
  CHECK(first.size() == 1);
  CHECK(second.size() == 1);
  CHECK(first != second);
}

// Its handle is that of the current device's, too.
TEST_CASE("a copy on the default stream of another device is on that", "[driver_calls][cuda]") {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) SKIP("needs two devices");
  Kokkos::View<int*, khs::PinnedSpace> const host("host", 1000), back("back", 1000);
  for (int i = 0; i < 1000; ++i) host(i) = i;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  {
    Kokkos::Cuda const instance(static_cast<cudaStream_t>(nullptr));
    REQUIRE(instance.cuda_device() == 1);
    Kokkos::View<int*, Kokkos::CudaSpace> const there(Kokkos::view_alloc(instance, "there"), 1000);
    instance.fence();
    std::atomic<bool> open = false;
    REQUIRE(cudaLaunchHostFunc(
                nullptr,
                [](void* is_open) { static_cast<std::atomic<bool>*>(is_open)->wait(false); },
                &open) == cudaSuccess);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    Kokkos::deep_copy(instance, there, host);
    khs::deep_copy_all(instance, khs::copy_of(back, there));
    CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);  // of device 0
    CHECK(back(999) == 0);
    open = true;
    open.notify_all();
    REQUIRE(cudaSetDevice(1) == cudaSuccess);  // a fence of Kokkos waits on the current device
    instance.fence();
    CHECK(back(999) == 999);
  }
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}
