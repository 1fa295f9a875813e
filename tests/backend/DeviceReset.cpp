// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Another library of the process calls cudaDeviceReset.

#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"
#include "CapturedStderr.hpp"
#include "pool/PoolTest.hpp"

TEST_CASE(
    "after a device was reset memory is used and given back, and the next use says what happened") {
  PoolTest const test(1);
  std::vector<char> mine(8192);
  char* const kept = PoolTest::allocate(2 * MiB);
  Pool::deallocate(PoolTest::allocate(20 * MiB));
  register_range(mine.data(), mine.size(), "mine");
  {
    DeviceWork::Stream stream;
    DeviceWork::Gate gate;
    stream.run(gate.hold());
    Pool::deallocate(PoolTest::allocate(100));
    Pool::deallocate(PoolTest::allocate(100));  // asks the device, which has work
    Pool::deallocate_on({stream.get(), 0}, PoolTest::allocate(3 * MiB));
  }
  Driver::private_stream();
  FakeCuda::reset_device(0);
  CapturedStderr const captured;
  char* const next = PoolTest::allocate(4 * MiB);
  CHECK_THAT(captured.text(),
             ContainsSubstring("device 0 was reset") && ContainsSubstring("cudaDeviceReset"));
  std::memset(next, 1, 4 * MiB);
  std::memset(kept, 2, 2 * MiB);
  CHECK_THROWS_MATCHES(Driver::private_stream(), DeviceError,
                       MessageMatches(ContainsSubstring("cudaDeviceReset")));
  Pool::deallocate(next);
  Pool::deallocate(kept);
  CHECK(unregister_range(mine.data()).empty());
  register_range(mine.data(), mine.size(), "again");
  CHECK(unregister_range(mine.data()).empty());
  pool::trim(0);
  CHECK(PoolTest::usage().bytes_in_use == 0);
  CHECK_FALSE(FakeCuda::has_context(0));
  // Each call loses one segment that the runtime does not know any more.
  for (int i = 0; i < 5; ++i) Pool::release_all();
  CHECK(PoolTest::usage().segments == 0);
}
