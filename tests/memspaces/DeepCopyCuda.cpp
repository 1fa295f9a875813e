// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// deep_copy with a Kokkos::Cuda instance, of a host instance with device memory, and without an
// instance.

#include "CopyCases.hpp"

#include <catch2/catch_template_test_macros.hpp>

using namespace CopyCases;
using Left  = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;

namespace {

// Both directions, equal and converted layouts.
template <class A, class B>
void check_pair() {
  check_copies<A, B, Right, Right>(on_device);
  check_copies<A, B, Left, Right>(on_device);
  check_copies<B, A, Left, Left>(on_device);
  check_copies<B, A, Left, Right>(on_device);
}

template <class A, class B>
void check_other_modes() {
  check_copies<A, B, Right, Right>(on_host);
  check_copies<B, A, Left, Right>(on_host);
  check_copies<A, B, Right, Right>(blocking);
  check_copies<B, A, Left, Right>(blocking);
}

}  // namespace

TEMPLATE_TEST_CASE("a Cuda instance copies between our spaces and all others, in every layout",
                   "[deep_copy][cuda]", khs::PinnedSpace, khs::MappedSpace,
                   khs::WriteCombinedSpace) {
  check_pair<TestType, Kokkos::CudaSpace>();
  check_pair<TestType, Kokkos::CudaUVMSpace>();
  check_pair<TestType, Kokkos::CudaHostPinnedSpace>();
  check_pair<TestType, Kokkos::HostSpace>();
  check_pair<TestType, khs::PinnedSpace>();
  check_pair<TestType, khs::MappedSpace>();
  check_pair<TestType, khs::WriteCombinedSpace>();
}

TEMPLATE_TEST_CASE("host instances and blocking copies reach device memory in every layout",
                   "[deep_copy][cuda]", khs::PinnedSpace, khs::MappedSpace) {
  check_other_modes<TestType, Kokkos::CudaSpace>();
}

TEST_CASE("large strided copies are right by engine and by kernel", "[deep_copy][cuda]") {
  check_copies<Kokkos::CudaSpace, khs::PinnedSpace, Right, Right>(on_device, 3000);
  check_copies<Kokkos::CudaSpace, khs::PinnedSpace, Left, Right>(on_device, 3000);
  check_copies<khs::PinnedSpace, Kokkos::CudaSpace, Left, Left>(on_device, 3000);
}

TEST_CASE("the legacy default stream is an instance like others", "[deep_copy][cuda]") {
  auto const on_default_stream = [](auto const& dst, auto const& src) {
    Kokkos::Cuda const instance(static_cast<cudaStream_t>(nullptr));
    Kokkos::deep_copy(instance, dst, src);
    instance.fence();
  };
  check_copies<khs::PinnedSpace, Kokkos::CudaSpace, Right, Right>(on_default_stream);
  check_copies<Kokkos::CudaSpace, khs::PinnedSpace, Left, Right>(on_default_stream);
  check_copies<khs::MappedSpace, khs::PinnedSpace, Right, Right>(on_default_stream);
  check_copies<khs::PinnedSpace, Kokkos::HostSpace, Left, Right>(on_default_stream);
}

TEST_CASE("a broadcast of pageable memory is right", "[deep_copy][cuda]") {
  constexpr int n      = 1000000;
  double const value[] = {1, 2, 3};
  Kokkos::View<double const**, Kokkos::LayoutStride, Kokkos::HostSpace> const source(
      value, Kokkos::LayoutStride(n, 0, 3, 1));
  Kokkos::View<double**, Kokkos::LayoutLeft, khs::MappedSpace> const mapped("mapped", n, 3);
  Kokkos::Cuda const instance;
  Kokkos::deep_copy(instance, mapped, source);
  instance.fence();
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 3; ++j) wrong += mapped(i, j) != j + 1;
  CHECK(wrong == 0);
}

TEST_CASE("element types are converted on the way", "[deep_copy][cuda]") {
  Kokkos::View<float**, khs::PinnedSpace> const floats("floats", 30, 40);
  Kokkos::View<double**, Kokkos::CudaSpace> const device("device", 30, 40);
  Kokkos::View<double**, Kokkos::LayoutRight, khs::MappedSpace> const doubles("doubles", 30, 40);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 40; ++j) floats(i, j) = float(i + 100 * j);
  Kokkos::Cuda const instance;
  Kokkos::deep_copy(instance, device, floats);
  Kokkos::deep_copy(instance, doubles, device);
  instance.fence();
  int wrong = 0;
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 40; ++j) wrong += doubles(i, j) != double(i + 100 * j);
  CHECK(wrong == 0);
}

TEST_CASE("rank one, every third element, and rank eight", "[deep_copy][cuda]") {
  Kokkos::Cuda const instance;
  Kokkos::View<int**, Kokkos::LayoutRight, khs::PinnedSpace> const source("source", 1000, 3);
  for (int i = 0; i < 1000; ++i) source(i, 1) = i;
  Kokkos::View<int*, Kokkos::CudaSpace> const device("device", 1000);
  Kokkos::View<int*, khs::PinnedSpace> const back("back", 1000);
  Kokkos::deep_copy(instance, device, Kokkos::subview(source, Kokkos::ALL, 1));
  Kokkos::deep_copy(instance, back, device);
  instance.fence();
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) wrong += back(i) != i;
  CHECK(wrong == 0);

  Kokkos::View<int********, Kokkos::LayoutRight, khs::PinnedSpace> const a("a", 2, 3, 2, 3, 2, 3, 2,
                                                                           3);
  Kokkos::View<int********, Kokkos::LayoutLeft, Kokkos::CudaSpace> const b("b", 2, 3, 2, 3, 2, 3, 2,
                                                                           3);
  Kokkos::View<int********, Kokkos::LayoutRight, khs::MappedSpace> const c("c", 2, 3, 2, 3, 2, 3, 2,
                                                                           3);
  for (std::size_t n = 0; n < a.size(); ++n) a.data()[n] = int(n);
  Kokkos::deep_copy(instance, b, a);
  Kokkos::deep_copy(instance, c, b);
  instance.fence();
  wrong = 0;
  for (std::size_t n = 0; n < a.size(); ++n) wrong += c.data()[n] != int(n);
  CHECK(wrong == 0);
}
