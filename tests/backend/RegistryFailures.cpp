// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/Driver.hpp"
#include "../../backend/Error.hpp"
#include "../../backend/PageLock.hpp"
#include "../../backend/Registry.hpp"
#include "../../backend/os/Pages.hpp"
#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"

#include <chrono>
#include <future>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

struct OnePage {
  void* begin = map_pages(page_bytes());
  ~OnePage() { unmap_pages(begin, page_bytes()); }
};

}  // namespace

TEST_CASE(
    "whichever CUDA call fails, registering throws or succeeds, leaks nothing and works again") {
  OnePage const page;
  FakeCuda::reset();
  register_range(page.begin, 8, "my data");
  std::size_t const calls = FakeCuda::calls("*");
  CHECK(unregister_range(page.begin).empty());
  for (std::size_t n = 1; n <= calls; ++n) {
    CAPTURE(n, calls);
    FakeCuda::reset();
    FakeCuda::fail_nth_call("*", n, cudaErrorUnknown);
    try {
      register_range(page.begin, 8, "my data");
      CHECK(unregister_range(page.begin).empty());
    } catch (RegistrationError const& error) {
      CHECK_THAT(error.what(), ContainsSubstring("'my data'"));
    }
    FakeCuda::fail_no_more();
    CHECK(registered_ranges() == 0);
    CHECK(FakeCuda::nothing_leaked());
    CHECK(cudaPeekAtLastError() == cudaSuccess);

    register_range(page.begin, 8, "my data");
    CHECK(unregister_range(page.begin).empty());
  }
}

TEST_CASE("memory that CUDA has page-locked already is refused, as is device memory") {
  FakeCuda::reset();
  Region const region = lock_fresh_pages(1, MemoryKind::page_locked, -1);
  CHECK_THROWS_MATCHES(register_range(region.pointer, 8, "twice"), RegistrationError,
                       MessageMatches(ContainsSubstring("page-locked already")));
  give_back(region);

  void* on_device = nullptr;
  REQUIRE(cudaMalloc(&on_device, 4096) == cudaSuccess);
  CHECK_THROWS_MATCHES(register_range(on_device, 8, "device"), RegistrationError,
                       MessageMatches(ContainsSubstring("device's")));
  CHECK(cudaFree(on_device) == cudaSuccess);
  CHECK(registered_ranges() == 0);
}

TEST_CASE("a range which the runtime does not unlock is told and forgotten") {
  OnePage const page;
  FakeCuda::reset();
  register_range(page.begin, 8, "my data");
  FakeCuda::fail_nth_call("cudaHostUnregister", 1);
  CHECK_THAT(unregister_range(page.begin),
             ContainsSubstring("'my data'") && ContainsSubstring("refused"));
  CHECK(registered_ranges() == 0);
}

TEST_CASE("after the runtime has shut down unregistering forgets the range without complaint") {
  OnePage const page;
  FakeCuda::reset();
  register_range(page.begin, 8, "my data");
  FakeCuda::shut_down();
  CHECK(unregister_range(page.begin).empty());
  CHECK(registered_ranges() == 0);
}

TEST_CASE("others can register while one range waits for kernels to be unlocked") {
  OnePage const waiting, other;
  FakeCuda::reset();
  register_range(waiting.begin, 8, "waiting");
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  auto unregistered =
      std::async(std::launch::async, [&] { return unregister_range(waiting.begin); });
  while (FakeCuda::calls("cudaHostUnregister") == 0) std::this_thread::yield();
  register_range(other.begin, 8, "other");
  CHECK_THROWS_AS(register_range(waiting.begin, 8, "too early"), RegistrationError);
  CHECK(unregistered.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  gate.open();
  CHECK(unregistered.get().empty());
  CHECK(unregister_range(other.begin).empty());
}
