// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What every source of the programs here does, in its own order of includes.

#ifndef KOKKOS_HOST_SPACES_TESTS_ORDER_CASES_HPP
#define KOKKOS_HOST_SPACES_TESTS_ORDER_CASES_HPP

#include "ThirdParty.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

constexpr int n = 50;

#ifdef KOKKOS_ENABLE_CUDA

// Copies a matrix from `Space` to the device with the other layout and back, by `copy`. Returns
// whether it came back; false also if Kokkos refuses such a copy.
template <class Space, class Copy>
bool is_transposed(Copy const& copy) {
  Kokkos::View<int**, Kokkos::LayoutRight, Space> const host("host", n, n), back("back", n, n);
  Kokkos::View<int**, Kokkos::LayoutLeft, Kokkos::CudaSpace> const device("device", n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) host(i, j) = 100 * i + j;
  Kokkos::Cuda const instance;
  try {
    copy(instance, device, host);
    copy(instance, back, device);
  } catch (std::runtime_error const&) {
    return false;
  }
  instance.fence();
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) wrong += back(i, j) != 100 * i + j;
  return wrong == 0;
}

auto const by_kokkos = [](auto const& instance, auto const& dst, auto const& src) {
  Kokkos::deep_copy(instance, dst, src);
};

#endif

}  // namespace

#endif
