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

#include <cstddef>

#include <catch2/catch_test_macros.hpp>

/// Copies that last until the end of the test.
struct GuardedCopies {
  PoolTest const test{1};
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  CapturedStderr const said;
  std::size_t const before = KokkosHostSpaces::Impl::Backend::Guard::races();

  GuardedCopies() {
    REQUIRE(KokkosHostSpaces::Impl::Backend::Guard::is_on());
    stream.run(gate.hold());
  }
  void begin(KokkosHostSpaces::Impl::Backend::Guard::Side const& dst,
             KokkosHostSpaces::Impl::Backend::Guard::Side const& src) const {
    KokkosHostSpaces::Impl::Backend::Guard::watch(dst, src, stream.get());
  }
  void end() {
    gate.open();
    stream.wait();
    CHECK(KokkosHostSpaces::Impl::Backend::Guard::watched() == 0);
  }
  std::size_t races() const { return KokkosHostSpaces::Impl::Backend::Guard::races() - before; }
};

#endif
