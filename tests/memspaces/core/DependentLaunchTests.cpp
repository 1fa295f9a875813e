// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Which kernels may start early, on the fake runtime. That they wait: VectorEarlyCuda.cpp.

#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"

#include "../../../backend/Driver.hpp"

#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace KokkosHostSpaces::Impl {
namespace {

// Is a kernel, compiled for these versions of two devices, started early on each of them? The one
// that is asked for first is current.
std::vector<bool> started_early(std::vector<int> const& versions, std::vector<int> const& devices) {
  FakeCuda::reset(2);
  FakeCuda::has_kernels(versions);
  std::vector<bool> early;
  DependentLaunch kernel(&versions);
  for (int const device : devices) {
    DeviceWork::require(cudaSetDevice(device), "cudaSetDevice");
    DeviceWork::Stream const stream;
    DeviceWork::require(cudaSetDevice(devices.front()), "cudaSetDevice");
    int argument = 0;
    early.push_back(kernel.launch(1, 32, &argument, stream.get(), device));
  }
  return early;
}

using Is = std::vector<bool>;

}  // namespace

TEST_CASE("a kernel starts early where it was compiled to wait, whatever it is on other devices") {
  CHECK(started_early({90, 100}, {0, 1, 0, 1}) == Is{true, true, true, true});
  CHECK(started_early({90, 80}, {0, 1, 0, 1}) == Is{true, false, true, false});
  CHECK(started_early({80, 90}, {0, 1, 0, 1}) == Is{false, true, false, true});
  CHECK(started_early({80, 75}, {1, 0}) == Is{false, false});
}

TEST_CASE("a kernel does not start early on the streams of everybody, nor in a capture") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  DependentLaunch kernel(&kernel);
  DeviceWork::Stream const stream;
  int argument     = 0;
  auto const start = [&](cudaStream_t on) { return kernel.launch(1, 32, &argument, on, 0); };
  CHECK_FALSE(start(nullptr));
  CHECK_FALSE(start(cudaStreamLegacy));
  CHECK_FALSE(start(cudaStreamPerThread));
  CHECK(start(stream.get()));
  cudaGraph_t graph = nullptr;
  DeviceWork::require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "capture");
  CHECK_FALSE(start(stream.get()));
  DeviceWork::require(cudaStreamEndCapture(stream.get(), &graph), "capture");
  DeviceWork::require(cudaGraphDestroy(graph), "cudaGraphDestroy");
  CHECK(start(stream.get()));
}

TEST_CASE("a launch that fails is none, and the next one is tried again") {
  FakeCuda::reset(1);
  FakeCuda::has_kernels({90});
  DeviceWork::Stream const stream;
  DependentLaunch kernel(&stream);
  int argument = 0;
  CHECK(kernel.launch(1, 32, &argument, stream.get(), 0));
  FakeCuda::fail_nth_call("cuLaunchKernelEx", 1);
  CHECK_FALSE(kernel.launch(1, 32, &argument, stream.get(), 0));
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(kernel.launch(1, 32, &argument, stream.get(), 0));
}

TEST_CASE("a launch makes the device of its stream the current one, if it is not") {
  FakeCuda::reset(2);
  FakeCuda::has_kernels({90, 90});
  int argument = 0;
  DeviceWork::require(cudaSetDevice(1), "cudaSetDevice");
  DeviceWork::Stream const stream;
  DependentLaunch kernel(&stream);
  CHECK(kernel.launch(1, 32, &argument, stream.get(), 1));
  std::size_t const before = FakeCuda::calls("cudaSetDevice");
  CHECK(kernel.launch(1, 32, &argument, stream.get(), 1));
  CHECK(FakeCuda::calls("cudaSetDevice") == before);
  DeviceWork::require(cudaSetDevice(0), "cudaSetDevice");
  FakeCuda::fail_nth_call("cudaSetDevice", 1);
  CHECK_FALSE(kernel.launch(1, 32, &argument, stream.get(), 1));
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(kernel.launch(1, 32, &argument, stream.get(), 1));
  int current = -1;
  DeviceWork::require(cudaGetDevice(&current), "cudaGetDevice");
  CHECK(current == 1);
}

TEST_CASE("threads launch a kernel for the first time together, each on its device") {
  FakeCuda::reset(2);
  FakeCuda::has_kernels({90, 100});
  int argument = 0;
  DependentLaunch kernel(&argument);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, device = i % 2] {
      DeviceWork::require(cudaSetDevice(device), "cudaSetDevice");
      DeviceWork::Stream const stream;
      for (int n = 0; n < 50; ++n) {
        if (n % 7 == 0) DeviceWork::require(cudaSetDevice(1 - device), "cudaSetDevice");
        failed += !kernel.launch(1, 32, &argument, stream.get(), device);
        int current = -1;
        DeviceWork::require(cudaGetDevice(&current), "cudaGetDevice");
        failed += current != device;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
}

TEST_CASE("a thread that has no context yet launches, and knows whether a stream captures") {
  FakeCuda::reset(2);
  FakeCuda::has_kernels({90, 90});
  DeviceWork::require(cudaSetDevice(1), "cudaSetDevice");
  DeviceWork::Stream const stream;
  DependentLaunch kernel(&stream);
  int argument = 0, current = -1;
  bool captured = true, launched = false;
  std::thread([&] {
    captured = Backend::Driver::is_capturing(stream.get());
    launched = kernel.launch(1, 32, &argument, stream.get(), 1);
    DeviceWork::require(cudaGetDevice(&current), "cudaGetDevice");
  }).join();
  CHECK_FALSE(captured);
  CHECK(launched);
  CHECK(current == 1);
}

}  // namespace KokkosHostSpaces::Impl
