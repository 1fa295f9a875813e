// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels of a VectorPolicy start before earlier work of their stream is done, and wait for it by
// themselves: each one here reads what the one before wrote, so that a wait too few is a wrong
// number.

#include "../core/DependentLaunches.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <thread>
#include <vector>

namespace khs = KokkosHostSpaces;
using namespace DependentLaunches;

namespace {

struct Inverse {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return 2 * a - b; }
};

// Three words, of which none may be taken before it is there.
struct Three {
  float low, all, high;
};

// Some blocks are done a millisecond after the last one.
struct OfLateBlocks {
  using value_type = Three;
  int late;
  KOKKOS_FUNCTION void init(Three& to) const { to = {0, 0, 0}; }
  KOKKOS_FUNCTION void join(Three& to, Three const& from) const {
    to = {to.low + from.low, to.all + from.all, to.high + from.high};
  }
  KOKKOS_FUNCTION void operator()(int i, Three& sum) const {
    if (i % late == 0) wait();
    join(sum, {float(i < 1000), 1, float(i >= 1000)});
  }

  static KOKKOS_FUNCTION void wait([[maybe_unused]] int clocks = 2000000) {
    KOKKOS_IF_ON_DEVICE((long long const begin = clock64(); while (clock64() - begin < clocks);))
  }
};

struct CountUp {
  OnDevice a;
  KOKKOS_FUNCTION void operator()(int i) const {
    if (i % 97 == 0) OfLateBlocks::wait(2000);
    a(i) += 1;
  }
};

// Lets what is behind it start at once, and writes long after that.
__global__ void write_late(double* a, int n, double value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  OfLateBlocks::wait(100000);
  int const threads = int(gridDim.x * blockDim.x);
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += threads) a[i] = value;
}

struct Same {
  KOKKOS_FUNCTION double operator()(double a) const { return a; }
};

// Of equal numbers.
struct CheckSum {
  OnDevice a;
  Number sum, wrong;
  KOKKOS_FUNCTION void operator()(int) const {
    wrong() += sum() == double(a.extent(0)) * a(0) ? 0 : 1;
  }
};

}  // namespace

TEST_CASE("each kernel of a long chain sees all that the one before wrote",
          "[vector_policy_cuda]") {
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

TEST_CASE("kernels that wait by themselves take turns with those of Kokkos, and with copies",
          "[vector_policy_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
  Pinned const host("host", std::size_t(n));
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  Kokkos::RangePolicy<Kokkos::Cuda> const range(instance, 0, n);
  int const steps = rounds(100);
  for (int step = 0; step < steps; ++step) {
    Kokkos::parallel_for("ours", all(instance, a), Shift{a, b});
    Kokkos::parallel_for("of Kokkos", range, Shift{b, a});
    shift(instance, a, b);
    Kokkos::deep_copy(instance, host, a);
    Kokkos::parallel_for("over it", all(instance, a), Shift{b, a});
    Kokkos::deep_copy(instance, a, host);
    Kokkos::deep_copy(instance, b, a);
    shift(instance, b, a);
    Kokkos::deep_copy(instance, a, b);
  }
  CHECK(count_other(instance, a, 6 * steps) == 0);
}

TEST_CASE("sums in a row share their scratch memory one after the other", "[vector_policy_cuda]") {
  int const n = any_length();
  OnDevice const a("a", std::size_t(n));
  Number const first("first"), second("second");
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  for (int step = 0, steps = rounds(200); step < steps;
       ++step) {  // each by the result of the one before
    Kokkos::deep_copy(instance, a, double(step));
    Kokkos::parallel_reduce("first", all(instance, a), Term{a, second}, first);
    khs::element_wise("minus", instance, a, Inverse(), a, a);
    Kokkos::parallel_reduce("second", all(instance, a), Term{a, first}, second);
    Kokkos::parallel_for(
        "again", khs::VectorPolicy(instance, 0, 1),
        KOKKOS_LAMBDA(int) { second() -= double(n) * (first() + step); });
  }
  double result = -1;
  Kokkos::deep_copy(instance, result, second);
  instance.fence();
  CHECK(result == 0);
}

TEST_CASE("a sum finds what the kernel before it wrote, though it asked for it earlier",
          "[vector_policy_cuda]") {
  int const n = any_length(), steps = rounds(200);
  OnDevice const a("a", std::size_t(n));
  Number const sum("sum"), wrong("wrong");
  Kokkos::Cuda const instance;
  khs::VectorPolicy const once(instance, 0, 1);
  CheckSum const check{a, sum, wrong};
  for (int step = 0; step < steps; ++step) {
    Kokkos::parallel_for("count up", all(instance, a), CountUp{a});
    khs::element_sum("sum", instance, sum, Same(), a);
    Kokkos::parallel_for("check", once, check);
  }
  Kokkos::Experimental::Graph<Kokkos::Cuda> graph({instance});
  khs::ElementSum const kernel(Same(), a);
  Node node = graph.root_node();
  for (int k = 0; k < 8; ++k)
    node = node.then_parallel_for("count up", all(instance, a), CountUp{a})
               .then_parallel_reduce("sum", kernel.policy(instance), kernel, sum)
               .then_parallel_for("check", once, check);
  khs::instantiate(graph);
  for (int step = 0; step < steps; ++step) graph.submit(instance);
  double result = -1;
  Kokkos::deep_copy(instance, result, wrong);
  CHECK(count_other(instance, a, 9 * steps) == 0);
  CHECK(result == 0);
}

TEST_CASE("a sum that asks early for what is not yet written finds what was written last",
          "[vector_policy_cuda]") {
  int const n = any_length(), steps = rounds(100);
  OnDevice const a("a", std::size_t(n));
  Number const sum("sum"), wrong("wrong");
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  for (int step = 1; step <= steps; ++step) {
    write_late<<<8, 256, 0, instance.cuda_stream()>>>(a.data(), n, step);
    khs::element_sum("sum", instance, sum, Same(), a);
    Kokkos::parallel_for("check", khs::VectorPolicy(instance, 0, 1), CheckSum{a, sum, wrong});
  }
  double result = -1;
  Kokkos::deep_copy(instance, result, wrong);
  CHECK(count_other(instance, a, steps) == 0);
  CHECK(result == 0);
}

TEST_CASE("the last block of a sum waits for parts that come late", "[vector_policy_cuda]") {
  int const n = GENERATE(5000, 20000, 300000);  // some blocks, more than a warp has lanes, many
  CAPTURE(n);
  Kokkos::Cuda const instance;
  Kokkos::View<Three, Kokkos::CudaSpace> const sum("sum");
  for (int run = 0; run < 10; ++run) {
    Kokkos::parallel_reduce("late", khs::VectorPolicy(instance, 0, n), OfLateBlocks{n / 3}, sum);
    Kokkos::parallel_reduce("again", khs::VectorPolicy(instance, 0, n), OfLateBlocks{n}, sum);
    auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum)();
    CHECK(result.low == 1000);
    CHECK(result.all == float(n));
    CHECK(result.high == float(n - 1000));
  }
}

TEST_CASE("kernels that start early wait for events of another instance", "[vector_policy_cuda]") {
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

TEST_CASE("chains on two instances at once do not meet", "[vector_policy_cuda]") {
  int const n = any_length(), steps = rounds(200);
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  std::vector<int> wrong(2, -1);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < 2; ++k)
    threads.emplace_back([&, k] {
      OnDevice const a("a", std::size_t(n)), b("b", std::size_t(n));
      for (int step = 0; step < steps; ++step) shift(instances[k], a, b);
      wrong[k] = count_other(instances[k], a, 2 * steps);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>{0, 0});
}
