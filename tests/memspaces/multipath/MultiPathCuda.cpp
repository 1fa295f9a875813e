// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies over the links of two and more devices that are there.

#include "../KokkosTest.hpp"

namespace MultiPathCuda {

using Pinned = Kokkos::View<std::uint32_t*, khs::PinnedSpace>;
using Device = Kokkos::View<std::uint32_t*, Kokkos::CudaSpace>;

namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// A stream and memory of a device, and copies that keep that device busy.
struct Load {
  static constexpr std::size_t bytes = std::size_t(32) << 20;
  int device                         = 0;
  cudaStream_t stream                = nullptr;
  void* memory                       = nullptr;
  void* host                         = nullptr;

  explicit Load(int on_device) : device(on_device) {
    must(cudaSetDevice(device));
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must(cudaMalloc(&memory, bytes));
    must(cudaMallocHost(&host, bytes));
    must(cudaSetDevice(0));
  }
  ~Load() {
    cudaStreamSynchronize(stream);
    cudaFree(memory);
    cudaFreeHost(host);
    cudaStreamDestroy(stream);
  }
  Load(Load const&)            = delete;
  Load& operator=(Load const&) = delete;

  void enqueue(int rounds) const {
    must(cudaSetDevice(device));
    for (int i = 0; i < rounds; ++i) {
      must(cudaMemsetAsync(memory, i, bytes, stream));
      must(cudaMemcpyAsync(host, memory, bytes, cudaMemcpyDefault, stream));
      must(cudaMemcpyAsync(memory, host, bytes, cudaMemcpyDefault, stream));
    }
    must(cudaSetDevice(0));
  }
};

std::size_t wrong(Pinned const& view, std::uint32_t factor) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < view.size(); ++i) count += view(i) != factor * std::uint32_t(i);
  return count;
}

void multiply(Kokkos::Cuda const& instance, Device const& values, std::uint32_t factor) {
  Kokkos::parallel_for(
      "multiply", Kokkos::RangePolicy<Kokkos::Cuda>(instance, 0, values.size()),
      KOKKOS_LAMBDA(int i) { values(i) *= factor; });
}

}  // namespace

TEST_CASE("copies over several links are right and ordered while all devices work",
          "[multi_path]") {
  int const devices = Kokkos::num_devices();
  if (devices < 2) SKIP("needs two devices");
  Kokkos::Cuda const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1)[1];
  khs::MultiPath const paths(instance);
  WARN(paths.explain());
  if (paths.explain().find("\n  through device") == std::string::npos)
    SKIP("no neighbour by NVLink");
  {
    Pinned const host("host", 4 * MiB);
    Device const device("device", 4 * MiB);
    CHECK(paths.links()->takes(device.data(), host.data(), 16 * MiB, instance.cuda_stream()));
    CHECK(paths.links()->takes(host.data(), device.data(), 16 * MiB, instance.cuda_stream()));
  }
  std::vector<std::unique_ptr<Load>> loads;
  for (int device = 0; device < devices; ++device) loads.push_back(std::make_unique<Load>(device));
  for (std::size_t const bytes : {4 * MiB, 4 * MiB + 4, 16 * MiB - 4, 64 * MiB, 200 * MiB + 12}) {
    Pinned const host("host", bytes / 4), back("back", bytes / 4);
    Device const device("device", bytes / 4);
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = std::uint32_t(i);
    for (int round = 0; round < 20; ++round) {
      for (auto const& load : loads) load->enqueue(round % 4);
      Kokkos::deep_copy(instance, device, 77);
      khs::deep_copy(paths, device, host);
      multiply(instance, device, 3);
      khs::deep_copy(paths, back, device);
      multiply(instance, device, 5);
      khs::deep_copy(paths, device, back);
      multiply(instance, device, 7);
      khs::deep_copy(paths, back, device);
      if (round == 10) paths.release_memory();
      instance.fence();
      CAPTURE(bytes, round);
      CHECK(wrong(back, 21) == 0);
      if (wrong(back, 21) != 0) return;
    }
  }
  WARN(paths.explain());
}

TEST_CASE("a capture, and memory of another device or of a pool, take one path", "[multi_path]") {
  if (Kokkos::num_devices() < 2) SKIP("needs two devices");
  Kokkos::Cuda const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1)[1];
  khs::MultiPath const paths(instance);
  Pinned const host("host", 4 * MiB), back("back", 4 * MiB);
  Device const device("device", 4 * MiB);
  for (std::size_t i = 0; i < host.size(); ++i) host(i) = 2 * std::uint32_t(i);
  cudaGraph_t graph         = nullptr;
  cudaGraphExec_t replayed  = nullptr;
  cudaStream_t const stream = instance.cuda_stream();
  {
    khs::pool::CaptureGuard const announced;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    khs::deep_copy(paths, device, host);
    khs::deep_copy(paths, back, device);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  }
  REQUIRE(cudaGraphInstantiate(&replayed, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(replayed, stream) == cudaSuccess);
  instance.fence();
  CHECK(wrong(back, 2) == 0);
  cudaGraphExecDestroy(replayed);
  cudaGraphDestroy(graph);

  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  void* there = nullptr;
  REQUIRE(cudaMalloc(&there, 16 * MiB) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  Kokkos::View<std::uint32_t*, Kokkos::CudaSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
      far(static_cast<std::uint32_t*>(there), 4 * MiB);
  Kokkos::deep_copy(instance, back, 1);
  khs::deep_copy(paths, far, host);
  khs::deep_copy(paths, back, far);
  instance.fence();
  CHECK(wrong(back, 2) == 0);
  cudaFree(there);

  void* of_pool = nullptr;
  REQUIRE(cudaMallocAsync(&of_pool, 16 * MiB, stream) == cudaSuccess);
  Kokkos::View<std::uint32_t*, Kokkos::CudaSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
      pooled(static_cast<std::uint32_t*>(of_pool), 4 * MiB);
  CHECK_FALSE(paths.links()->takes(of_pool, host.data(), 16 * MiB, stream));
  Kokkos::deep_copy(instance, back, 1);
  khs::deep_copy(paths, pooled, host);
  khs::deep_copy(paths, back, pooled);
  instance.fence();
  CHECK(wrong(back, 2) == 0);
  cudaFreeAsync(of_pool, stream);
}

TEST_CASE("KOKKOS_HOST_SPACES_MULTI_PATH=off: one path", "[.][multi_path_off]") {
  khs::MultiPath<Kokkos::Cuda> const paths;
  CHECK_THAT(paths.explain(), Catch::Matchers::ContainsSubstring("MULTI_PATH is off"));
}

}  // namespace MultiPathCuda
