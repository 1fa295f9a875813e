// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Dependent launches on a stream: each kernel reads the results of the kernel before it, so that a
// missing wait gives a wrong number.

#include "../core/DependentLaunches.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <vector>

namespace khs = KokkosHostSpaces;
using namespace DependentLaunches;

namespace {

struct Inverse {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return 2 * a - b; }
};

KOKKOS_FUNCTION void wait_for([[maybe_unused]] int clocks) {
  KOKKOS_IF_ON_DEVICE((long long const begin = clock64(); while (clock64() - begin < clocks);))
}

struct CountUp {
  OnDevice a;
  KOKKOS_FUNCTION void operator()(int i) const {
    if (i % 97 == 0) wait_for(2000);
    a(i) += 1;
  }
};

// Lets its dependents start at once, and writes long after that.
__global__ void write_late(double* a, int n, double value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  wait_for(100000);
  int const threads = int(gridDim.x * blockDim.x);
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += threads) a[i] = value;
}

struct Same {
  KOKKOS_FUNCTION double operator()(double a) const { return a; }
};

// Counts a wrong sum of n equal numbers.
struct CheckSum {
  OnDevice a;
  Number sum, wrong;
  KOKKOS_FUNCTION void operator()(int) const {
    wrong() += sum() == double(a.extent(0)) * a(0) ? 0 : 1;
  }
};

}  // namespace

TEST_CASE("each kernel of a long chain sees all results of the kernel before it",
          "[parallel_kernels_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n)), c("c", std::size_t(n));
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  int const steps     = rounds(500);
  for (int step = 0; step < steps; ++step) shift(instance, a, b);
  CHECK(count_other(instance, a, 2 * steps) == 0);
  for (int step = 0; step < steps; ++step) {  // 2 a - c and back: any lost write grows
    khs::element_wise("there", instance, c, Inverse(), a, a);
    khs::element_wise("back", instance, a, Inverse(), c, c);
  }
  CHECK(count_other(instance, a, 2 * steps) == 0);
}

TEST_CASE("dependent launches alternate with kernels of Kokkos and with copies",
          "[parallel_kernels_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  Pinned const host("host", std::size_t(n));
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  Kokkos::RangePolicy<Kokkos::Cuda> const range(instance, 0, n);
  int const steps = rounds(100);
  for (int step = 0; step < steps; ++step) {
    khs::parallel_for("ours", instance, n, Shift{a, b});
    Kokkos::parallel_for("of Kokkos", range, Shift{b, a});
    shift(instance, a, b);
    Kokkos::deep_copy(instance, host, a);
    khs::parallel_for("over it", instance, n, Shift{b, a});
    Kokkos::deep_copy(instance, a, host);
    Kokkos::deep_copy(instance, b, a);
    shift(instance, b, a);
    Kokkos::deep_copy(instance, a, b);
  }
  CHECK(count_other(instance, a, 6 * steps) == 0);
}

TEST_CASE("a sum reads the results of the kernel before it, though it prefetches earlier",
          "[parallel_kernels_cuda]") {
  int const n = any_length(), steps = rounds(200);
  OnDevice const a("a", std::size_t(n));
  Number const sum("sum"), wrong("wrong");
  Kokkos::Cuda const instance;
  CheckSum const check{a, sum, wrong};
  for (int step = 0; step < steps; ++step) {
    khs::parallel_for("count up", instance, n, CountUp{a});
    khs::element_sum("sum", instance, sum, Same(), a);
    khs::parallel_for("check", instance, 1, check);
  }
  double result = -1;
  Kokkos::deep_copy(instance, result, wrong);
  CHECK(count_other(instance, a, steps) == 0);
  CHECK(result == 0);
}

TEST_CASE("a sum that prefetches before the kernel before it writes reads the new values",
          "[parallel_kernels_cuda]") {
  int const n = any_length(), steps = rounds(100);
  OnDevice const a("a", std::size_t(n));
  Number const sum("sum"), wrong("wrong");
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  for (int step = 1; step <= steps; ++step) {
    write_late<<<8, 256, 0, instance.cuda_stream()>>>(a.data(), n, step);
    khs::element_sum("sum", instance, sum, Same(), a);
    khs::parallel_for("check", instance, 1, CheckSum{a, sum, wrong});
  }
  double result = -1;
  Kokkos::deep_copy(instance, result, wrong);
  CHECK(count_other(instance, a, steps) == 0);
  CHECK(result == 0);
}

TEST_CASE("kernels that start early wait for work of the legacy default stream, and for batches",
          "[parallel_kernels_cuda]") {
  int const n = any_length(), steps = rounds(50);
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  Pinned const host("host", std::size_t(n));
  std::vector<khs::Slice> slices;  // about 900, of lengths that are no rows
  for (std::size_t begin = 0, end = 0; begin < host.size(); begin = end) {
    end = std::min(host.size(), begin + host.size() / 900 + 1 + slices.size() % 3);
    slices.push_back({host.size() - end, begin, end - begin});
  }
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  for (int step = 1; step <= steps; ++step) {
    write_late<<<8, 256, 0, cudaStreamLegacy>>>(a.data(), n, step);
    khs::parallel_for("behind the default stream", instance, n, Shift{a, b});
    CHECK(count_other(instance, b, step + 1) == 0);
    Kokkos::deep_copy(host, double(2 * step));
    khs::deep_copy_all(instance, a, host, slices);
    khs::parallel_for("behind a batch", instance, n, Shift{a, b});
    CHECK(count_other(instance, b, 2 * step + 1) == 0);
  }
}

// Does nothing, and waits for nothing.
static __global__ void never_waits() {}

// Tells what happens, since CUDA promises nothing: the early kernel waits for never_waits alone.
TEST_CASE("a kernel behind one that starts early and never waits may read old values",
          "[parallel_kernels_cuda]") {
  int const n = elements(1 << 16);
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  auto const instance           = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  cudaLaunchAttribute attribute = {};
  attribute.id                  = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config                            = {};
  config.gridDim                                       = 1;
  config.blockDim                                      = 32;
  config.stream                                        = instance.cuda_stream();
  config.attrs                                         = &attribute;
  config.numAttrs                                      = 1;
  int old                                              = 0;
  for (int step = 1; step <= 50; ++step) {
    write_late<<<8, 256, 0, instance.cuda_stream()>>>(a.data(), n, step);
    REQUIRE(cudaLaunchKernelEx(&config, never_waits) == cudaSuccess);
    khs::parallel_for("behind both", instance, n, Shift{a, b});
    old += count_other(instance, b, step + 1) > 0;
  }
  CHECK(count_other(instance, a, 50) == 0);
  WARN("old values were read in " << old << " of 50 runs");
}

TEST_CASE("kernels that start early wait for events of another instance",
          "[parallel_kernels_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  cudaEvent_t done     = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&done, cudaEventDisableTiming) == cudaSuccess);
  int const turns = rounds(200);
  for (int turn = 0; turn < turns; ++turn) {
    Kokkos::Cuda const &now  = instances[std::size_t(turn % 2)],
                       &next = instances[std::size_t((turn + 1) % 2)];
    for (int step = 0; step < 3; ++step) shift(now, a, b);
    CHECK(cudaEventRecord(done, now.cuda_stream()) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(next.cuda_stream(), done, 0) == cudaSuccess);
  }
  CHECK(count_other(instances[0], a, 6 * turns) == 0);
  CHECK(cudaEventDestroy(done) == cudaSuccess);
}
