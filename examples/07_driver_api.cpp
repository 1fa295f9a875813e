// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory from the CUDA driver API and from the CUDA runtime API as unmanaged Views: deep_copy takes
// both, in both directions. What kind of memory it is, the type says; who allocated it does not
// matter. A graph captured from a stream of the runtime API is told to the pool by a guard.

#include "support/Example.hpp"

#include <KokkosHostSpaces.hpp>

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace khs = KokkosHostSpaces;

using Unmanaged  = Kokkos::MemoryUnmanaged;
using HostView   = Kokkos::View<double*, khs::PinnedSpace, Unmanaged>;
using DeviceView = Kokkos::View<double*, Kokkos::CudaSpace, Unmanaged>;

void check(CUresult result, char const* call) {
  char const* why = nullptr;
  if (result == CUDA_SUCCESS) return;
  cuGetErrorString(result, &why);
  throw std::runtime_error(std::string(call) + " failed (" + (why ? why : "unknown error") + ")");
}

void check(cudaError_t result, char const* call) {
  if (result != cudaSuccess)
    throw std::runtime_error(std::string(call) + " failed (" + cudaGetErrorString(result) + ")");
}

// A page-locked host buffer and a device buffer from one of the two APIs, freed at the end.
class DriverBuffers {
 public:
  explicit DriverBuffers(std::size_t bytes) {
    check(cuMemHostAlloc(&m_host, bytes, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
    CUresult const result = cuMemAlloc(&m_device, bytes);
    if (result != CUDA_SUCCESS) cuMemFreeHost(m_host);
    check(result, "cuMemAlloc");
  }
  ~DriverBuffers() {
    cuMemFree(m_device);
    cuMemFreeHost(m_host);
  }
  DriverBuffers(DriverBuffers const&)            = delete;
  DriverBuffers& operator=(DriverBuffers const&) = delete;

  double* host() const { return static_cast<double*>(m_host); }
  double* device() const { return reinterpret_cast<double*>(m_device); }

 private:
  void* m_host         = nullptr;
  CUdeviceptr m_device = 0;
};

class RuntimeBuffers {
 public:
  explicit RuntimeBuffers(std::size_t bytes) {
    check(cudaHostAlloc(&m_host, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    cudaError_t const result = cudaMalloc(&m_device, bytes);
    if (result != cudaSuccess) static_cast<void>(cudaFreeHost(m_host));
    check(result, "cudaMalloc");
  }
  ~RuntimeBuffers() {
    static_cast<void>(cudaFree(m_device));
    static_cast<void>(cudaFreeHost(m_host));
  }
  RuntimeBuffers(RuntimeBuffers const&)            = delete;
  RuntimeBuffers& operator=(RuntimeBuffers const&) = delete;

  double* host() const { return static_cast<double*>(m_host); }
  double* device() const { return static_cast<double*>(m_device); }

 private:
  void* m_host   = nullptr;
  void* m_device = nullptr;
};

void add_one(Kokkos::Cuda const& instance, DeviceView data) {
  Kokkos::parallel_for(
      "add_one", Kokkos::RangePolicy<Kokkos::Cuda>(instance, 0, data.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) { data(i) += 1.0; });
}

// From one API's host memory to the other's device memory and back.
bool round_trip(char const* name, double* host_pointer, double* device_pointer, std::size_t n) {
  HostView const host(host_pointer, n);
  DeviceView const device(device_pointer, n);
  Example::fill(host, [](std::size_t i) { return double(i); });
  Kokkos::Cuda const instance;
  Kokkos::deep_copy(instance, device, host);
  add_one(instance, device);
  Kokkos::deep_copy(instance, host, device);
  instance.fence("round trip is done");
  std::size_t const wrong = Example::count_wrong(host, [](std::size_t i) { return double(i) + 1; });
  std::printf("%-34s %s\n", name, wrong == 0 ? "right" : "WRONG");
  return wrong == 0;
}

// The pool cannot see the capture of such a stream: the guard announces it.
bool replay_captured_copy(double* device_pointer, std::size_t n) {
  Kokkos::View<double*, khs::PinnedSpace> const host("captured", n);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  {
    khs::pool::CaptureGuard const announced;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    check(
        cudaMemcpyAsync(host.data(), device_pointer, n * sizeof(double), cudaMemcpyDefault, stream),
        "cudaMemcpyAsync");
    Kokkos::View<double*, khs::PinnedSpace> const meanwhile("may be made and destroyed", n);
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  }
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  std::size_t const wrong = Example::count_wrong(host, [](std::size_t i) { return double(i) + 1; });
  std::printf("%-34s %s\n", "a captured copy, launched", wrong == 0 ? "right" : "WRONG");
  return wrong == 0;
}

bool run(Example::Options const& options) {
  std::size_t const n = options.elements<double>("bytes");
  DriverBuffers const driver(n * sizeof(double));
  RuntimeBuffers const runtime(n * sizeof(double));

  std::printf("%-34s %s\n", "host memory -> device memory -> host", "");
  bool right = round_trip("cuMemHostAlloc <-> cuMemAlloc", driver.host(), driver.device(), n);
  right = round_trip("cuMemHostAlloc <-> cudaMalloc", driver.host(), runtime.device(), n) && right;
  right = round_trip("cudaHostAlloc  <-> cuMemAlloc", runtime.host(), driver.device(), n) && right;
  right = round_trip("cudaHostAlloc  <-> cudaMalloc", runtime.host(), runtime.device(), n) && right;

  // Such memory mixes with Views of this library as well.
  Kokkos::View<double*, khs::PinnedSpace> const own("own", n);
  Kokkos::deep_copy(own, DeviceView(driver.device(), n));
  std::size_t const wrong = Example::count_wrong(own, [](std::size_t i) { return double(i) + 1; });
  std::printf("%-34s %s\n", "a PinnedSpace View <- cuMemAlloc", wrong == 0 ? "right" : "WRONG");
  return replay_captured_copy(driver.device(), n) && right && wrong == 0;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv, {{"bytes", "64M", "size of each buffer"}}, run);
}
