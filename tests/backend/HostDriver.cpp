// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "BackendTest.hpp"

TEST_CASE("without CUDA there is no device and nothing to wait for") {
  Driver::Devices devices{};
  Driver::Event event = nullptr;
  CHECK(Driver::device_count() == 0);
  CHECK(Driver::devices_in_use(devices) == 0);
  CHECK(Driver::record_all_work(0, event) == Driver::Recorded::idle);
  CHECK(event == nullptr);
  CHECK(Driver::fence_device(0));
}

TEST_CASE("without CUDA what needs a device is refused with advice") {
  CHECK_THROWS_AS(Driver::pci_bus_id(0), DeviceError);
  CHECK_THROWS_AS(Driver::allocate_pinned(4096, MemoryKind::page_locked), DeviceError);
  CHECK_THROWS_AS(Driver::lock_pages(nullptr, 1), DeviceError);
}

TEST_CASE("without CUDA a strided copy is done when the call returns") {
  std::array<char, 24> const src = {"abcdefghijklmnopqrstuvw"};
  std::array<char, 9> dst        = {};
  // Two planes of two rows of two bytes: "ab", "ef" and "mn", "qr".
  Driver::Box const box{2, 2, 2, 2, 4, 4, 12};
  Driver::copy(dst.data(), src.data(), box, nullptr);
  CHECK(std::string(dst.data()) == "abefmnqr");
}

TEST_CASE("without CUDA memory of every kind is mapped pages") {
  for (MemoryKind const kind : {MemoryKind::page_locked, MemoryKind::write_combined}) {
    Region const region = lock_fresh_pages(1, kind, -1);
    CHECK(region.origin == Origin::mapped);
    CHECK(region.kind == kind);
    give_back(region);
  }
}
