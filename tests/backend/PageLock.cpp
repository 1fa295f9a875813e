// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "BackendTest.hpp"

TEST_CASE("fresh pages are writable, zero, whole and page-locked") {
  start_test(1);
  auto const kind = GENERATE(MemoryKind::page_locked, MemoryKind::write_combined);
  std::size_t const bytes =
      GENERATE(std::size_t(1), std::size_t(4097), std::size_t(2) << 20, std::size_t(5) << 20,
               (std::size_t(16) << 20) + 128, (std::size_t(64) << 20) + 128);
  CAPTURE(bytes);
  Region const region = lock_fresh_pages(bytes, kind, -1);
  REQUIRE(region.pointer != nullptr);
  CHECK(region.kind == kind);
  CHECK(region.bytes >= bytes);
  CHECK(region.bytes % page_bytes() == 0);
  CHECK(region.bytes - bytes <= std::max(page_bytes() - 1, bytes / 16));
  // Huge pages begin at multiples of 2 MiB.
  bool const is_huge = bytes >= huge_page_bytes && region.origin != Origin::driver;
  CHECK(reinterpret_cast<std::uintptr_t>(region.pointer) %
            (is_huge ? huge_page_bytes : page_bytes()) ==
        0);
  CHECK(is_locked(region.pointer) == (Driver::device_count() > 0));
  auto* const begin = static_cast<char*>(region.pointer);
  if (region.origin != Origin::driver) {
    CHECK((*begin == 0 && std::memcmp(begin, begin + 1, region.bytes - 1) == 0));
  }
  std::memset(begin, 1, region.bytes);
  give_back(region);
}

TEST_CASE("the configuration switches huge pages and binding off") {
  start_test(1);
  Config config;
  config.huge_pages   = false;
  config.numa         = false;
  Region const region = lock_fresh_pages(huge_page_bytes, MemoryKind::page_locked, 0, config);
  CHECK_FALSE(region.huge_pages);
  CHECK(region.numa_node == -1);
  give_back(region);
}

TEST_CASE("more memory than the machine can have is refused") {
  start_test(1);
  for (std::size_t const bytes : {SIZE_MAX, SIZE_MAX / 2, std::size_t(1) << 60}) {
    CHECK_THROWS_MATCHES(
        lock_fresh(bytes), OutOfPinnedMemory,
        MessageMatches(ContainsSubstring(std::to_string(bytes) + " bytes") &&
                       (ContainsSubstring("more than this machine can have") ||
                        ContainsSubstring("more than the control group may have"))));
  }
}
