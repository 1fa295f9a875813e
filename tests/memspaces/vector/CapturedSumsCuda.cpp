// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Captured sums: graphs that run at the same time, beside sums of a stream.

#include "../../support/DeviceWork.hpp"
#include "../Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <array>
#include <memory>
#include <type_traits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace khs = KokkosHostSpaces;

namespace {

using Counted = Kokkos::View<double, Kokkos::CudaSpace>;

// The last index takes some microseconds longer.
struct AddSlowly {
  double number;
  int last;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const {
    double value = 3;
    for (int turn = 0; i == last && turn < 2000; ++turn) value = 1 + 1 / value;
    sum += value < 0 ? 2 : number;
  }
};

struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Launchable = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

// A stream that ignores the default stream, and its instance.
struct Place {
  DeviceWork::Stream stream{DeviceWork::Stream::Kind::non_blocking};
  Kokkos::Cuda instance{stream.get()};

  void add(double number, int n, Counted const& sum) const {
    khs::parallel_reduce("sum", instance, n, AddSlowly{number, n - 1}, sum);
  }
  template <class Work>
  Launchable capture(Work const& work) {
    stream.begin_capture();
    work();
    cudaGraph_t const graph = stream.end_capture_with_graph();
    REQUIRE(graph != nullptr);
    cudaGraphExec_t launchable = nullptr;
    DeviceWork::require(cudaGraphInstantiate(&launchable, graph, 0), "cudaGraphInstantiate");
    DeviceWork::require(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return Launchable(launchable);
  }
  void launch(Launchable const& graph) const {
    DeviceWork::require(cudaGraphLaunch(graph.get(), stream.get()), "cudaGraphLaunch");
  }
};

double counted(Counted const& sum) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum)();
}

}  // namespace

TEST_CASE("the first sum of a stream may be captured", "[parallel_kernels_cuda]") {
  int const n = GENERATE(20000, 1 << 20);
  Counted const sum("sum");
  Place place;
  auto const graph = place.capture([&] { place.add(1, n, sum); });
  for (int replay = 0; replay < 3; ++replay) {
    Kokkos::deep_copy(place.instance, sum, 0.);
    place.launch(graph);
    place.instance.fence();
    CHECK(counted(sum) == n);
  }
}

TEST_CASE("sums captured on one stream are launched on others at the same time",
          "[parallel_kernels_cuda]") {
  int const n = elements(GENERATE(20000, 200000)), launches = rounds(250);
  std::array<Counted, 4> const sums = {Counted("a"), Counted("b"), Counted("c"), Counted("d")};
  std::array<Place, 3> places;
  auto const first  = places[0].capture([&] { places[0].add(1, n, sums[0]); });
  auto const second = places[0].capture([&] {
    places[0].add(2, n, sums[1]);
    places[0].add(3, n, sums[2]);
  });
  int wrong         = 0;
  for (int round = 0; round < launches; ++round) {
    for (int again = 0; again < 4; ++again) {
      places[1].launch(first);
      places[2].launch(second);
      places[0].add(4, n, sums[3]);
    }
    for (Place const& place : places) place.instance.fence();
    for (int k = 0; k < 4; ++k) wrong += counted(sums[std::size_t(k)]) != (k + 1.) * n;
  }
  CHECK(wrong == 0);
}
