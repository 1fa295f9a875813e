// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_GUARDED_COPIES_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_GUARDED_COPIES_HPP

#include "../../../backend/guard/Guard.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "../CapturedStderr.hpp"
#include "GuardedView.hpp"
#include "../pool/PoolTest.hpp"

/// Copies that last until the end of the test.
struct GuardedCopies {
  PoolTest const test{1};
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  CapturedStderr const said;
  std::size_t const before = Guard::races();

  GuardedCopies() {
    REQUIRE(Guard::is_on());
    stream.run(gate.hold());
  }
  void begin(Guard::Side const& dst, Guard::Side const& src) const {
    Guard::watch(dst, src, stream.get());
  }
  void end() {
    gate.open();
    stream.wait();
    CHECK(Guard::watched() == 0);
  }
  std::size_t races() const { return Guard::races() - before; }
};

#endif
