// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// deep_copy with a Kokkos::Cuda instance, of a host instance with device memory, and without an
// instance.

#include "CopyCases.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include <cstring>

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
  check_pair<TestType, TestType>();
}

TEST_CASE("a Cuda instance copies between two of our spaces, in every layout",
          "[deep_copy][cuda]") {
  check_pair<khs::PinnedSpace, khs::MappedSpace>();
  check_pair<khs::PinnedSpace, khs::WriteCombinedSpace>();
  check_pair<khs::MappedSpace, khs::WriteCombinedSpace>();
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

namespace {

struct Triple {
  float x, y, z;
};

template <class T>
T element(std::size_t n) {
  T value;
  auto* const bytes = reinterpret_cast<unsigned char*>(&value);
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes[i] = static_cast<unsigned char>((n * sizeof(T) + i) * 2654435761u >> 16);
  return value;
}

// Transposes on the way to the device and on the way back, and checks each element.
template <class T, class Space>
void check_transposed(std::size_t rows, std::size_t columns) {
  INFO(sizeof(T) << " bytes, " << rows << " x " << columns << " in " << Space::name());
  Kokkos::View<T**, Right, Space> const source("source", rows, columns),
      back("back", rows, columns);
  Kokkos::View<T**, Left, Kokkos::CudaSpace> const device("device", rows, columns);
  for (std::size_t n = 0; n < source.size(); ++n) source.data()[n] = element<T>(n);
  Kokkos::Cuda const instance;
  Kokkos::deep_copy(instance, device, source);
  Kokkos::deep_copy(instance, back, device);
  instance.fence();
  CHECK(std::memcmp(source.data(), back.data(), source.size() * sizeof(T)) == 0);
  auto const there  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      wrong += std::memcmp(&there(i, j), &source(i, j), sizeof(T)) != 0;
  CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("transposed copies are right for odd extents and all element sizes",
                   "[deep_copy][cuda]", char, short, float, double, Kokkos::complex<double>,
                   Triple) {
  for (auto const& [rows, columns] : {std::pair(1, 7), std::pair(33, 31), std::pair(257, 1023),
                                      std::pair(3, 100001), std::pair(100001, 3)}) {
    check_transposed<TestType, khs::PinnedSpace>(std::size_t(rows), std::size_t(columns));
    check_transposed<TestType, khs::MappedSpace>(std::size_t(rows), std::size_t(columns));
  }
}

TEST_CASE("large pageable Views are transposed through bounded page-locked memory",
          "[deep_copy][cuda]") {
  std::size_t const rows = 4001, columns = 3001;  // 92 MiB
  using Pageable = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  Pageable const from("from", rows, columns), to("to", rows, columns);
  Kokkos::View<double**, Kokkos::LayoutRight, khs::MappedSpace> const there("there", rows, columns);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i) from(i, j) = double(i + rows * j);
  Kokkos::fence();
  khs::pool::trim(0);
  std::size_t const before = khs::pool::statistics().total.bytes_locked;
  Kokkos::Cuda const instance;
  Kokkos::deep_copy(instance, there, from);
  Kokkos::deep_copy(instance, to, there);
  instance.fence();
  std::size_t wrong = 0;
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i)
      wrong += there(i, j) != from(i, j) || to(i, j) != from(i, j);
  CHECK(wrong == 0);
  CHECK(khs::pool::statistics().total.bytes_locked <= before + (std::size_t(160) << 20));
}

TEST_CASE("large pageable Views of another type go through bounded page-locked memory",
          "[deep_copy][cuda]") {
  std::size_t const rows = 3001, columns = 10007;  // 115 MiB of floats
  using Pageable = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Pageable const from("from", rows, columns), to("to", rows, columns);
  Kokkos::View<double**, Kokkos::LayoutLeft, khs::MappedSpace> const there("there", rows, columns);
  for (std::size_t n = 0; n < from.size(); ++n) from.data()[n] = float(n % 9999991);
  Kokkos::fence();
  khs::pool::trim(0);
  std::size_t const before = khs::pool::statistics().total.bytes_locked;
  Kokkos::Cuda const instance;
  Kokkos::deep_copy(instance, there, from);
  Kokkos::deep_copy(instance, to, there);
  instance.fence();
  std::size_t wrong = 0;
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i)
      wrong += there(i, j) != double(from(i, j)) || to(i, j) != from(i, j);
  CHECK(wrong == 0);
  CHECK(khs::pool::statistics().total.bytes_locked <= before + (std::size_t(160) << 20));
}
