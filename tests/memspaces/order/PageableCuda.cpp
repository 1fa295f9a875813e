// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Pageable and device memory, whose copies are ours where the whole program asks for them.

#include "../copy/RandomDeepCopies.hpp"

#include <cuda_runtime_api.h>

using Device = Kokkos::CudaSpace;
using Host   = Kokkos::HostSpace;
using Right  = Kokkos::LayoutRight;

TEST_CASE("strided data is copied between pageable and device memory", "[deep_copy][cuda]") {
  using DeepCopyRandom::check;
  check<3, double, double, Host, Device>();
  check<3, double, double, Device, Host>();
  check<3, double, double, Host, Device, Right, Kokkos::LayoutLeft>();
  check<3, double, double, Device, Host, Right, Right>();
}

namespace {

// An instance on a stream that does not wait for the legacy default stream.
struct NonBlocking {
  NonBlocking() { REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == 0); }
  ~NonBlocking() { cudaStreamDestroy(stream); }
  NonBlocking(NonBlocking const&)            = delete;
  NonBlocking& operator=(NonBlocking const&) = delete;
  cudaStream_t stream                        = nullptr;
};

// Copies so often a new value, blocking, and lets a kernel of the instance count what is not it.
template <class Dst, class Src>
int stale_after_copies(int rounds, Kokkos::Cuda const& instance, Dst const& device,
                       Src const& host) {
  Kokkos::View<int, Kokkos::CudaSpace> const wrong("wrong");
  for (int round = 1; round <= rounds; ++round) {
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = round;
    Kokkos::deep_copy(device, host);
    Kokkos::parallel_for(
        "count what is stale", Kokkos::RangePolicy<Kokkos::Cuda>(instance, 0, device.extent(0)),
        KOKKOS_LAMBDA(int i) {
          if (device(i) != round) Kokkos::atomic_inc(wrong.data());
        });
    instance.fence();
  }
  int result = 0;
  Kokkos::deep_copy(result, wrong);
  return result;
}

}  // namespace

TEST_CASE("failure 20: a blocking copy of pageable memory has arrived for kernels on any stream",
          "[deep_copy][cuda]") {
  NonBlocking const own;
  Kokkos::Cuda const instance(own.stream);
  constexpr int n = 1 << 17;  // 512 KiB: from 256 KiB on CUDA may return before it has arrived
  Kokkos::View<int*, Device> const device("device", n);
  Kokkos::View<int*, Host> const host("host", n);
  CHECK(stale_after_copies(5000, instance, device, host) == 0);
  Kokkos::View<int**, Right, Device> const matrix("matrix", n, 2);
  CHECK(stale_after_copies(5000, instance, Kokkos::subview(matrix, Kokkos::ALL, 1), host) == 0);
}
