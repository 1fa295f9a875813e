// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/os/Fork.hpp"
#include "../support/AllocationHook.hpp"
#include "../support/FakeCuda.hpp"
#include "BackendTest.hpp"

#include <cuda_runtime_api.h>

using ChildOfFork::status;

TEST_CASE("the fake runtime notices calls from the child of a fork") {
  FakeCuda::reset(1);
  int count = 0;
  CHECK(status([&] { return static_cast<int>(cudaGetDeviceCount(&count)); }) == 99);
}

TEST_CASE("in the child of a fork no driver function calls CUDA, and everything is harmless") {
  FakeCuda::reset(1);
  Region const region = lock_fresh(1);
  void* const pages   = map_pages(page_bytes());
  register_range(pages, 8, "my data");
  Driver::Event event = nullptr;
  REQUIRE(Driver::record_all_work(0, event) == Driver::Recorded::yes);

  int const status_of_child = status([&] {
    Driver::Devices devices{};
    Driver::Event other = nullptr;
    bool harmless       = is_forked_child() && Driver::device_count() == 0;
    harmless            = harmless && Driver::devices_in_use(devices) == 0;
    harmless = harmless && Driver::query(event) == Driver::EventState::done && Driver::wait(event);
    harmless = harmless && Driver::record_all_work(0, other) == Driver::Recorded::idle;
    harmless = harmless && !Driver::unlock_pages(region.pointer, region.bytes) &&
               !Driver::free_pinned(region.pointer);
    harmless = harmless && Driver::fence_device(0) && unregister_range(pages).empty();
    Driver::release_event(event);
    Driver::announce_capture();
    Driver::end_announced_capture();
    harmless     = harmless && give_back(region);
    bool refused = false;
    try {
      Driver::lock_pages(pages, 8);
    } catch (KokkosHostSpaces::DeviceError const&) {
      refused = true;
    }
    return harmless && refused ? 0 : 1;
  });
  CHECK(status_of_child == 0);

  CHECK_FALSE(is_forked_child());
  CHECK(unregister_range(pages).empty());
  Driver::release_event(event);
  give_back(region);
  CHECK(FakeCuda::nothing_leaked());
  unmap_pages(pages, page_bytes());
}

TEST_CASE("a fork in the middle of a registration leaves the child a registry that works") {
  FakeCuda::reset(1);
  void* const ours    = map_pages(page_bytes());
  void* const other   = map_pages(page_bytes());
  auto const in_child = [&] {
    bool works = registered_ranges() == 0 && unregister_range(ours).empty();
    register_range(other, 8, "of the child");
    works = works && registered_ranges() == 1 && unregister_range(other).empty();
    return works && registered_ranges() == 0 ? 0 : 1;
  };
  std::string const label(5000, 'x');  // what is longer than that has to do with it
  for (std::size_t n = 1;; ++n) {
    CAPTURE(n);
    int status_of_child = 0;
    AllocationHook const hook(n, label.size(), [&] { status_of_child = status(in_child); });
    register_range(ours, 8, label);
    bool const was_called = hook.was_called();
    CHECK(unregister_range(ours).empty());
    CHECK(status_of_child == 0);
    if (!was_called) break;
    REQUIRE(n < 1000);
  }
  unmap_pages(ours, page_bytes());
  unmap_pages(other, page_bytes());
}

TEST_CASE("a child of a child has a registry of its own") {
  FakeCuda::reset(1);
  void* const page = map_pages(page_bytes());
  register_range(page, 8, "of the parent");
  int const status_of_child = status([&] {
    register_range(page, 8, "of the child");
    int const below = status([&] {
      if (registered_ranges() != 0) return 1;
      register_range(page, 8, "of the child's child");
      return registered_ranges() == 1 ? 0 : 1;
    });
    return below == 0 && registered_ranges() == 1 ? 0 : 1;
  });
  CHECK(status_of_child == 0);
  CHECK(registered_ranges() == 1);
  CHECK(unregister_range(page).empty());
  unmap_pages(page, page_bytes());
}
