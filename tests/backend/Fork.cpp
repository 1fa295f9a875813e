// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/Driver.hpp"
#include "../../backend/Error.hpp"
#include "../../backend/PageLock.hpp"
#include "../../backend/Registry.hpp"
#include "../../backend/os/Fork.hpp"
#include "../../backend/os/Pages.hpp"
#include "../support/FakeCuda.hpp"

#include <array>
#include <cstdlib>

#include <catch2/catch_test_macros.hpp>

#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace KokkosHostSpaces::Impl;

namespace {

// Runs `work` in a child and returns its exit status: what `work` returns, or 99 if CUDA was
// called.
template <class Work>
int status_of_child(Work work) {
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) std::_Exit(work());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the fake runtime notices calls from the child of a fork") {
  FakeCuda::reset(1);
  int count = 0;
  CHECK(status_of_child([&] { return static_cast<int>(cudaGetDeviceCount(&count)); }) == 99);
}

TEST_CASE("in the child of a fork no driver function calls CUDA, and everything is harmless") {
  FakeCuda::reset(1);
  Region const region = lock_fresh_pages(1, MemoryKind::page_locked, -1);
  void* const pages   = map_pages(page_bytes());
  register_range(pages, 8, "my data");
  Driver::Event event = nullptr;
  REQUIRE(Driver::record_all_work(0, event) == Driver::Recorded::yes);

  int const status = status_of_child([&] {
    std::array<int, Driver::max_devices> devices{};
    Driver::Event other = nullptr;
    bool harmless       = is_forked_child() && Driver::device_count() == 0;
    harmless            = harmless && Driver::devices_in_use(devices) == 0;
    harmless = harmless && Driver::query(event) == Driver::EventState::done && Driver::wait(event);
    harmless = harmless && Driver::record_all_work(0, other) == Driver::Recorded::idle;
    harmless =
        harmless && !Driver::unlock_pages(region.pointer) && !Driver::free_pinned(region.pointer);
    harmless = harmless && Driver::fence_device(0) && unregister_range(pages).empty();
    Driver::release_event(event);
    Driver::announce_capture();
    Driver::end_announced_capture();
    give_back(region);
    harmless     = harmless && inspect_range(region.pointer, region.bytes) == RangeState::writable;
    bool refused = false;
    try {
      Driver::lock_pages(pages, 8);
    } catch (KokkosHostSpaces::CudaError const&) {
      refused = true;
    }
    return harmless && refused ? 0 : 1;
  });
  CHECK(status == 0);

  CHECK_FALSE(is_forked_child());
  CHECK(unregister_range(pages).empty());
  Driver::release_event(event);
  give_back(region);
  CHECK(FakeCuda::nothing_leaked());
  unmap_pages(pages, page_bytes());
}
