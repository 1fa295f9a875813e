// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/cuda/Runtime.hpp"
#include "../support/FakeCuda.hpp"
#include "os/AvailableMemory.hpp"
#include "CapturedStderr.hpp"
#include "pool/PoolTest.hpp"

#include <cuda_runtime_api.h>

TEST_CASE("failure 17: where registration is refused the driver allocates") {
  FakeCuda::reset();
  FakeCuda::fail_nth_call("cudaHostRegister", 1, cudaErrorNotSupported);
  Region const region = lock_fresh(1);
  CHECK(region.origin == Origin::driver);
  CHECK(FakeCuda::outstanding().pinned_allocations == 1);
  give_back(region);
  CHECK(FakeCuda::nothing_leaked());
}

TEST_CASE("pages that the runtime refuses to lock are the system's again") {
  FakeCuda::reset();
  auto const resident     = [] { return figure_in("/proc/self/status", "VmRSS:") << 10; };
  std::size_t const bytes = 16 * huge_page_bytes, before = resident();
  for (int i = 0; i < 6; ++i) {
    FakeCuda::fail_nth_call("cudaHostRegister", 1);
    CHECK(give_back(lock_fresh(bytes)));
  }
  CHECK(resident() < before + 3 * bytes);
}

TEST_CASE("where registered memory has another address on the device the driver allocates") {
  FakeCuda::reset();
  FakeCuda::registered_memory_moves();
  Region const region = lock_fresh(1);
  CHECK(region.origin == Origin::driver);
  CHECK(FakeCuda::calls("cudaHostRegister") == 0);
  give_back(region);
}

TEST_CASE("without a device memory is mapped, and CUDA is not asked to lock it") {
  FakeCuda::reset(0);
  Region const region = lock_fresh(1);
  CHECK(region.origin == Origin::mapped);
  CHECK(FakeCuda::calls("cudaHostRegister") == 0);
  give_back(region);
}

TEST_CASE("when registration and driver both refuse, the message says why, and by both") {
  FakeCuda::reset();
  FakeCuda::fail_nth_call("cudaHostRegister", 1, cudaErrorNotSupported);
  FakeCuda::fail_nth_call("cudaHostAlloc", 1);
  CHECK_THROWS_MATCHES(lock_fresh(1), OutOfPinnedMemory,
                       MessageMatches(ContainsSubstring(std::to_string(page_bytes()) + " bytes") &&
                                      ContainsSubstring("cudaHostRegister") &&
                                      ContainsSubstring("the device's driver has no more memory")));
  CHECK(FakeCuda::nothing_leaked());
}

TEST_CASE("each fallback is told once, and only if the configuration wants it") {
  FakeCuda::reset();
  FakeCuda::registered_memory_moves();
  Config quiet, loud;
  loud.verbose = true;
  CapturedStderr captured;
  give_back(lock_fresh_pages(1, MemoryKind::page_locked, -1, quiet));
  CHECK(captured.text().empty());
  give_back(lock_fresh_pages(1, MemoryKind::page_locked, -1, loud));
  std::string const once = captured.text();
  CHECK_THAT(once, ContainsSubstring("using cudaHostAlloc"));
  give_back(lock_fresh_pages(1, MemoryKind::page_locked, -1, loud));
  CHECK(captured.text() == once);
}

TEST_CASE("failure 12: a range is locked in pieces that end at multiples of a chunk, all or none") {
  FakeCuda::reset();
  std::size_t const page  = page_bytes();
  std::size_t const bytes = 10 * page, chunk = 4 * page;
  // Aligned to 2 MiB, so that a range from the second page on has pieces of 3, 4 and 3 pages.
  auto* const mapping = static_cast<char*>(map_pages(huge_page_bytes));
  REQUIRE(mapping != nullptr);
  char* const pointer = mapping + page;

  Driver::lock_in_chunks(pointer, bytes, chunk);
  CHECK(FakeCuda::outstanding().registrations == 3);
  CHECK(is_locked(pointer + bytes - 1));
  CHECK(Driver::unlock_in_chunks(pointer, bytes, chunk));
  CHECK(FakeCuda::outstanding().registrations == 0);

  for (std::size_t n = 1; n <= 3; ++n) {
    FakeCuda::fail_nth_call("cudaHostRegister", n);
    CHECK_THROWS_AS(Driver::lock_in_chunks(pointer, bytes, chunk), DeviceError);
    CHECK(FakeCuda::outstanding().registrations == 0);
  }
  CHECK_FALSE(Driver::unlock_in_chunks(pointer, bytes, chunk));
  unmap_pages(mapping, huge_page_bytes);
}

TEST_CASE("pieces that are neither locked nor unlocked are told") {
  FakeCuda::reset();
  std::size_t const page = page_bytes();
  void* const pointer    = map_pages(4 * page);
  FakeCuda::fail_nth_call("cudaHostRegister", 3);
  FakeCuda::fail_nth_call("cudaHostUnregister", 1);
  CHECK_THROWS_AS(Driver::lock_in_chunks(pointer, 4 * page, page), Driver::StillLocked);
  CHECK(FakeCuda::outstanding().registrations == 1);
  CHECK(Driver::unlock_pages(pointer, page));
  unmap_pages(pointer, 4 * page);
}

TEST_CASE("memory that stays locked counts against the pool's limit for ever") {
  PoolTest const test(1);
  constexpr std::size_t bytes = 8 * huge_page_bytes;
  pool::set_limit(4 * bytes);
  FakeCuda::fail_nth_call("cudaHostGetDevicePointer", 1);
  FakeCuda::fail_nth_call("cudaFreeHost", 1);
  CHECK_THROWS_AS(PoolTest::write_combined(bytes), Driver::StillLocked);
  CHECK(FakeCuda::outstanding().pinned_allocations == 1);
  CHECK_THROWS_AS(PoolTest::write_combined(4 * bytes), OutOfPinnedMemory);
  Pool::deallocate(PoolTest::write_combined(3 * bytes));
}

TEST_CASE("what the runtime refuses to take back is told, and stays mapped") {
  FakeCuda::reset();
  Region const region = lock_fresh(1);
  FakeCuda::fail_nth_call("cudaHostUnregister", 1);
  CHECK_FALSE(give_back(region));
  CHECK(is_mapped(region.pointer, region.bytes));
  CHECK(give_back(region));
  CHECK_FALSE(is_mapped(region.pointer, region.bytes));

  Region const of_driver = lock_fresh(1, MemoryKind::write_combined);
  FakeCuda::fail_nth_call("cudaFreeHost", 1);
  CHECK_FALSE(give_back(of_driver));
  CHECK(give_back(of_driver));
}

TEST_CASE("memory of the driver that begins within a page is had from the next page on") {
  FakeCuda::reset();
  void* const raw = Driver::allocate_pinned(3 * page_bytes(), MemoryKind::page_locked);
  REQUIRE(reinterpret_cast<std::uintptr_t>(raw) % page_bytes() != 0);
  CHECK(Driver::free_pinned(raw));
  Region const region = lock_fresh_pages(3 * page_bytes(), MemoryKind::write_combined, -1);
  CHECK(reinterpret_cast<std::uintptr_t>(region.pointer) % page_bytes() == 0);
  CHECK(region.bytes == 3 * page_bytes());
  CHECK(is_locked(static_cast<char*>(region.pointer) + region.bytes - 1));
  CHECK(give_back(region));
  CHECK(FakeCuda::nothing_leaked());
}
