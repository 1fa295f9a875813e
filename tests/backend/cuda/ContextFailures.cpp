// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Whatever fails on the way, a thread keeps its device, and no context of ours stays above its own.

#include "../../../backend/Driver.hpp"
#include "../../../backend/Error.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "../Device.hpp"

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <cuda_runtime_api.h>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl::Backend;

namespace {

void use(Driver::Stream stream, std::vector<char>& memory) {
  void* const to         = memory.data();
  void const* const from = memory.data() + 10;
  std::size_t const ten  = 10;
  Driver::Event event    = nullptr;
  Driver::copy(to, from, ten, stream);
  Driver::copy_batch(&to, &from, &ten, 1, stream);
  Driver::is_capturing(nullptr);
  Driver::device_of(to);
  Driver::lock_pages(to, memory.size());
  Driver::unlock_pages(to, memory.size());
  Driver::record(event, stream, 1);
  Driver::make_wait(stream, event, 0);
  Driver::release_event(event);
  Driver::release_stream(Driver::make_stream(0));
  Driver::free_on_device(Driver::allocate_on_device(1, ten));
  Driver::fence(stream);
}

int current_device() {
  int device = -1;
  DeviceWork::require(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

}  // namespace

TEST_CASE("a thread keeps its device if any call on the way fails") {
  int failures = 0, wrong = 0;
  for (std::size_t n = 1; n < 200; ++n) {
    start_test(3);
    std::vector<char> memory(100);
    DeviceWork::require(cudaSetDevice(1), "cudaSetDevice");
    Driver::Stream const stream = Driver::private_stream(1);
    std::thread([&] {
      FakeCuda::fail_nth_call("*", n);
      try {
        use(stream, memory);
      } catch (CudaError const&) {
        ++failures;
      }
      FakeCuda::fail_no_more();
      wrong += current_device() != 0;
      DeviceWork::require(cudaSetDevice(2), "cudaSetDevice");
      wrong += current_device() != 2;  // a context that was pushed would go first
    }).join();
  }
  CHECK(wrong == 0);
  CHECK(failures > 5);
}
