// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// KOKKOS_HOST_SPACES_GUARD=on with a device: reports host accesses to pages that a copy uses. The
// environment is read once, so these tests have a run of their own.

#include "../KokkosTest.hpp"

#include "../../support/DeviceWork.hpp"

namespace {

// Copies on this instance wait until the gate is opened.
class Held {
 public:
  Held() : instance(m_stream.get()), m_before(khs::Impl::races_found()) {
    REQUIRE(khs::Impl::guards_copies());
    Kokkos::fence();
    m_stream.run(m_gate.hold());
  }
  void end() {
    m_gate.open();
    instance.fence();
  }
  std::size_t races() const { return khs::Impl::races_found() - m_before; }

 private:
  DeviceWork::Stream m_stream;
  DeviceWork::Gate m_gate;

 public:
  Kokkos::Cuda const instance;

 private:
  std::size_t m_before;
};

}  // namespace

TEMPLATE_TEST_CASE("a host write during a copy to the device is reported", "[.guard]",
                   khs::PinnedSpace, khs::MappedSpace) {
  for (std::size_t n : {std::size_t(1), std::size_t(1000), std::size_t(1) << 20}) {
    Kokkos::View<int*, TestType> const sent("sent", n);
    Kokkos::View<int*, Kokkos::CudaSpace> const device("device", n);
    Held held;
    Kokkos::deep_copy(held.instance, device, sent);
    CHECK(sent(n / 2) == 0);
    CHECK(held.races() == 0);
    sent(n / 2) = 42;
    CHECK(held.races() == 1);
    held.end();
    sent(n / 2) = 43;
    CHECK(held.races() == 1);
    auto const copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
    CHECK(copied(n / 2) == 42);
  }
}

TEST_CASE("a host write during a batch of copies is reported", "[.guard]") {
  std::size_t const length = 1 << 14, count = 40;  // whole pages
  Kokkos::View<int*, khs::PinnedSpace> const sent("sent", 2 * length * count);
  Kokkos::View<int*, Kokkos::CudaSpace> const device("device", length * count);
  std::vector<khs::Slice> slices;
  std::vector<
      std::pair<Kokkos::View<int*, Kokkos::CudaSpace>, Kokkos::View<int*, khs::PinnedSpace>>>
      pairs;
  for (std::size_t k = 0; k < count; ++k) {
    khs::Slice const s{length * k, 2 * length * (k * 7 % count), length};
    slices.push_back(s);
    pairs.emplace_back(Kokkos::subview(device, std::pair(s.dst, s.dst + length)),
                       Kokkos::subview(sent, std::pair(s.src, s.src + length)));
  }
  for (bool const as_slices : {true, false}) {
    Held held;
    if (as_slices)
      khs::deep_copy_all(held.instance, device, sent, slices);
    else
      khs::deep_copy_all(held.instance, pairs);
    CHECK(sent(slices[7].src) == (as_slices ? 0 : 42));
    CHECK(held.races() == 0);
    sent(slices[7].src) = 42;
    CHECK(held.races() == 1);
    held.end();
    sent(slices[8].src + length / 2) = 43;
    CHECK(held.races() == 1);
  }
}

TEMPLATE_TEST_CASE("a host read during a copy to the host is reported, and the copy arrives",
                   "[.guard]", khs::PinnedSpace, khs::MappedSpace) {
  for (std::size_t n : {std::size_t(1), std::size_t(1000), std::size_t(1) << 20}) {
    Kokkos::View<int*, Kokkos::CudaSpace> const device("device", n);
    Kokkos::deep_copy(device, 7);
    Kokkos::View<int*, TestType> const touched("touched", n), alone("alone", n);
    Held held;
    Kokkos::deep_copy(held.instance, touched, device);
    Kokkos::deep_copy(held.instance, alone, device);
    CHECK(touched(n - 1) == 0);
    CHECK(held.races() == 1);
    held.end();
    CHECK(touched(n - 1) == 7);
    CHECK(alone(0) == 7);
    CHECK(alone(n - 1) == 7);
    CHECK(held.races() == 1);
  }
}
