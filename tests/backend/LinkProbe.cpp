// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/LinkProbe.hpp"

#include "../support/DeviceWork.hpp"
#include "BackendTest.hpp"

namespace {

constexpr std::size_t part = std::size_t(1) << 20;

struct PageLocked {
  PageLocked() : bytes(2 * part) {
    std::iota(bytes.begin(), bytes.begin() + part, static_cast<unsigned char>(1));
    Driver::lock_pages(bytes.data(), bytes.size());
  }
  ~PageLocked() { Driver::unlock_pages(bytes.data(), bytes.size()); }

  bool came_back() const {
    return std::equal(bytes.begin(), bytes.begin() + part, bytes.begin() + part);
  }
  std::vector<unsigned char> bytes;
};

}  // namespace

TEST_CASE("a measurement of links carries what is sent to the devices and back") {
  start_test(1);
  PageLocked first, second;
  LinkProbe probe({{0, first.bytes.data()}, {0, second.bytes.data()}}, part);
  CHECK(probe.bytes({2, 1}) == 6. * part);
  CHECK(probe.best_rate({1, 0}, 2) > 0);
  CHECK_FALSE(first.came_back());
  bool meanwhile = false;
  CHECK(probe.seconds({1, 1}, [&] { meanwhile = true; }) > 0);
  CHECK(meanwhile);
  CHECK(first.came_back());
  CHECK(second.came_back());
  CHECK(probe.best_rate({2, 1}, 2) > 0);
}

TEST_CASE("an idle link is measured, and a busy one is not") {
  start_test(1);
  PageLocked host;
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  CHECK_FALSE(rate_of_idle_link(0, host.bytes.data(), part));
  gate.open();
  stream.wait();
  auto const rate = rate_of_idle_link(0, host.bytes.data(), part);
  REQUIRE(rate);
  CHECK(*rate > 1e6);
}
