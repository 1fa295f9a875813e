// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/Driver.hpp"
#include "../../../backend/Error.hpp"
#include "../../support/FakeCuda.hpp"

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <cuda_runtime_api.h>

namespace DeviceMemories {

using namespace KokkosHostSpaces::Impl;

TEST_CASE("a copy is on the device on return, and goes with its last owner", "[device_memory]") {
  FakeCuda::reset(2);
  std::vector<int> list(5000);
  std::iota(list.begin(), list.end(), 0);
  std::size_t const bytes = list.size() * sizeof(int);
  auto table              = try_copy_to_device(1, list.data(), bytes);
  REQUIRE(table != nullptr);
  CHECK(Backend::Driver::device_of(table.get()) == 1);
  CHECK(std::equal(list.begin(), list.end(), reinterpret_cast<int const*>(table.get())));
  auto const other = table;
  table.reset();
  CHECK(FakeCuda::outstanding().device_allocations == 1);

  FakeCuda::fail_nth_call("cudaMalloc", 1);
  CHECK(try_copy_to_device(0, list.data(), bytes) == nullptr);
  FakeCuda::fail_nth_call("cudaMemcpyAsync", 1, cudaErrorLaunchFailure);
  CHECK_THROWS_AS(try_copy_to_device(0, list.data(), bytes), KokkosHostSpaces::DeviceError);
  CHECK(FakeCuda::outstanding().device_allocations == 1);
}

}  // namespace DeviceMemories
