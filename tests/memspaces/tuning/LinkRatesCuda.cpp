// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/tuning/LinkRates.hpp>

#include "../../support/DeviceWork.hpp"

#include <Kokkos_Core.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>

using namespace KokkosHostSpaces::Impl;

TEST_CASE("the rates of a link fit one another, and are measured in less than a second",
          "[link_rates_cuda]") {
  int const device = Kokkos::device_id();
  (void)measure_link_rates(device);  // page-locks memory
  auto const begin = std::chrono::steady_clock::now();
  auto const r     = measure_link_rates(device);
  double const taken =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  REQUIRE(r);
  std::cout << write_link_rates({{"here", "measured in s:", std::to_string(taken), *r}});
  CHECK(taken < 1);
  CHECK(r->make_sense());
  CHECK(r->both > 1.05 * std::max(r->to_device, r->to_host));
  CHECK(r->both < 1.1 * (r->to_device + r->to_host));
  CHECK(r->two_to_one > 1.05 * std::max(r->to_device, r->to_host));
  CHECK(r->zero_copy_read < 1.1 * r->to_device);
  CHECK(r->zero_copy_write < 1.1 * r->to_host);
  CHECK(r->zero_copy_read > 0.5 * r->to_device);
  CHECK(r->device_memory > 5 * r->to_device);
}

TEST_CASE("a busy device is not measured", "[link_rates_cuda]") {
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  CHECK_FALSE(measure_link_rates(Kokkos::device_id()));
  gate.open();
  stream.wait();
  CHECK(measure_link_rates(Kokkos::device_id()));
}
