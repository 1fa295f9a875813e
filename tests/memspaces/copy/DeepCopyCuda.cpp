// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Large copies on a GPU, and elements that tiles are made of. All others: DeepCopyRandom.cpp.

#include "../KokkosTest.hpp"

using Left  = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;

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

TEMPLATE_TEST_CASE("transposed copies are right for odd extents and element sizes",
                   "[deep_copy][cuda]", char, float, Kokkos::complex<double>, Triple) {
  for (auto const& [rows, columns] : {std::pair(1, 7), std::pair(33, 31), std::pair(257, 1023),
                                      std::pair(3, 100001), std::pair(100001, 3)}) {
    check_transposed<TestType, khs::PinnedSpace>(std::size_t(rows), std::size_t(columns));
    check_transposed<TestType, khs::MappedSpace>(std::size_t(rows), std::size_t(columns));
  }
}

TEMPLATE_TEST_CASE("large pageable Views are transposed and converted through bounded memory",
                   "[deep_copy][cuda]", double, float) {
  std::size_t const rows = 4001, columns = 3001;  // 92 MiB, or half
  using Pageable = Kokkos::View<TestType**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  Pageable const from("from", rows, columns), to("to", rows, columns);
  Kokkos::View<double**, Kokkos::LayoutRight, khs::MappedSpace> const there("there", rows, columns);
  for (std::size_t n = 0; n < from.size(); ++n) from.data()[n] = TestType(n % 9999991);
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
