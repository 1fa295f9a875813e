// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../FakeTest.hpp"
#include "../../../backend/Registry.hpp"

#include <KokkosHostSpaces/impl/core/Streams.hpp>

#include <cstring>

using namespace KokkosHostSpaces::Impl;

// The real runtime may return early also from a copy of pageable memory (order/PageableCuda.cpp), the fake one does from
// one of registered memory.
TEST_CASE("failure 20: copied bytes have arrived when copy_and_wait returns", "[streams]") {
  FakeCuda::reset();
  constexpr std::size_t bytes = std::size_t(8) << 20;
  std::vector<char> host(bytes);
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
  auto* const device = static_cast<char*>(memory);
  Backend::register_range(host.data(), bytes, "host");
  for (char round = 1; round <= 10; ++round) {
    std::memset(host.data(), round, bytes);
    copy_and_wait(device, host.data(), bytes);
    CHECK(std::memcmp(device, host.data(), bytes) == 0);
  }
  CHECK(Backend::unregister_range(host.data()).empty());
  CHECK(cudaFree(memory) == cudaSuccess);
}
