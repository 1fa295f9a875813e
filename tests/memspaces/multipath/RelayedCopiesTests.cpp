// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies over the links of several devices, on the fake CUDA runtime.

#include "../../../backend/Driver.hpp"
#include "../../../backend/Error.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FailNth.hpp"
#include "../../support/FakeCuda.hpp"

#include <KokkosHostSpaces/impl/multipath/RelayedCopies.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace RelayedCopiesTests {

using namespace KokkosHostSpaces::Impl;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t KiB = 1024;

RelayRules small_rules() {
  RelayRules rules;
  rules.least_bytes = 256 * KiB;
  rules.chunk       = 128 * KiB;
  rules.first_chunk = 64 * KiB;
  rules.latency = rules.enqueue = 0;
  return rules;
}

RelayedCopies::Probe equal_links() {
  return {[](int) { return 5e10; }, [](int, int) { return false; }};
}

std::vector<int> others(int devices) {
  std::vector<int> list(std::size_t(devices) - 1);
  std::iota(list.begin(), list.end(), 1);
  return list;
}

/// Page-locked memory, memory of device 0, and a stream there.
class Arrays {
 public:
  explicit Arrays(std::size_t size) : host(size), bytes(size * sizeof(std::uint32_t)) {
    std::iota(host.begin(), host.end(), 1U);
    Backend::Driver::lock_pages(host.data(), bytes);
    DeviceWork::require(cudaMalloc(&m_device, bytes), "cudaMalloc");
  }
  ~Arrays() {
    stream.wait();
    cudaFree(m_device);
    Backend::Driver::unlock_pages(host.data(), bytes);
  }
  std::uint32_t* device() const { return static_cast<std::uint32_t*>(m_device); }
  bool on_device(std::uint32_t first) const { return counts(device(), first); }
  bool on_host(std::uint32_t first) const { return counts(host.data(), first); }

  std::vector<std::uint32_t> host;
  std::size_t bytes;
  DeviceWork::Stream stream;

 private:
  bool counts(std::uint32_t const* values, std::uint32_t first) const {
    for (std::size_t i = 0; i < host.size(); ++i)
      if (values[i] != first + i) return false;
    return true;
  }
  void* m_device = nullptr;
};

}  // namespace

TEST_CASE("paths end at the same time, and none gets less than a first chunk", "[multi_path]") {
  RelayRules const rules;
  std::size_t const MiB = KiB * KiB;
  for (std::size_t bytes : {4 * MiB, 16 * MiB + 12345, 64 * MiB, 1024 * MiB})
    for (std::size_t paths : {2, 4, 8}) {
      auto const parts = split_over_paths(bytes, std::vector<double>(paths, 5e10), rules);
      CHECK(std::accumulate(parts.begin(), parts.end(), std::size_t(0)) == bytes);
      CHECK(parts.size() >= 2);
      CHECK(*std::min_element(parts.begin(), parts.end()) >= rules.first_chunk);
      for (std::size_t p = 1; p < parts.size(); ++p) {
        double const latency = rules.latency + rules.enqueue * double(p - 1);
        CHECK(std::abs(double(parts[p]) / 5e10 + latency - double(parts[0]) / 5e10) < 12e-6);
      }
    }
  auto const uneven = split_over_paths(1024 * MiB, {5e10, 1e10}, rules);
  CHECK(uneven[0] > 4 * uneven[1]);
  CHECK(split_over_paths(MiB, {5e10, 5e10}, rules).size() == 1);
}

TEST_CASE("chunks of a relay grow to the host and shrink to the device", "[multi_path]") {
  RelayRules const rules;
  for (std::size_t bytes :
       {KiB, std::size_t(1) << 20, std::size_t(9000) * KiB, (std::size_t(100) << 20) + 12345}) {
    auto to_host = relay_chunks(bytes, false, rules), to_device = relay_chunks(bytes, true, rules);
    CHECK(std::accumulate(to_host.begin(), to_host.end(), std::size_t(0)) == bytes);
    CHECK(*std::max_element(to_host.begin(), to_host.end()) <= rules.chunk);
    CHECK(to_host.front() <= 2 * rules.first_chunk);
    std::reverse(to_device.begin(), to_device.end());
    CHECK(to_host == to_device);
  }
}

TEST_CASE("a copy goes over all links in equal parts, ordered on its stream", "[multi_path]") {
  for (int devices : {2, 4, 8}) {
    FakeCuda::reset(devices);
    {
      Arrays arrays(std::size_t(devices) * 256 * KiB + 321);
      RelayedCopies copies(0, others(devices), equal_links(), "", small_rules());
      std::size_t const chunks = RelayRules::lanes * small_rules().chunk;
      INFO(copies.explain());
      REQUIRE(copies.takes(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get()));
      std::fill_n(arrays.device(), arrays.host.size(), 0U);

      DeviceWork::Gate gate;
      arrays.stream.run(gate.hold());
      arrays.stream.run([&] { std::iota(arrays.host.begin(), arrays.host.end(), 7U); });
      copies.enqueue(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get());
      bool right = false;
      arrays.stream.run([&] { right = arrays.on_device(7); });
      arrays.stream.run(
          [&] { std::iota(arrays.device(), arrays.device() + arrays.host.size(), 9U); });
      copies.enqueue(arrays.host.data(), arrays.device(), arrays.bytes, arrays.stream.get());
      arrays.stream.run([&] { right &= arrays.on_host(9); });
      CHECK(arrays.device()[arrays.host.size() - 1] == 0);
      CHECK(FakeCuda::calls("cudaEventElapsedTime") == 0);  // an error while they are pending
      gate.open();
      arrays.stream.wait();
      CHECK(right);
      CHECK(FakeCuda::outstanding().device_allocations == std::size_t(devices));
      copies.release();
      CHECK(FakeCuda::outstanding().device_allocations == 1);
      copies.enqueue(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get());
      arrays.stream.wait();
      CHECK(arrays.on_device(9));
      CHECK_THAT(copies.explain(), ContainsSubstring("through device 1: 50 GB/s, " +
                                                     std::to_string(chunks) + " bytes"));
    }
    CHECK(FakeCuda::nothing_leaked());
    CHECK(FakeCuda::outstanding().device_allocations == 0);
  }
}

TEST_CASE("each link carries its part of a copy", "[multi_path]") {
  FakeCuda::reset(4);
  Arrays arrays(1024 * KiB);
  RelayedCopies copies(0, others(4), equal_links(), "", small_rules());
  for (bool const to_device : {true, false}) {
    std::size_t const before = FakeCuda::copied().size();
    void* const host         = arrays.host.data();
    copies.enqueue(to_device ? arrays.device() : host, to_device ? host : arrays.device(),
                   arrays.bytes, arrays.stream.get());
    arrays.stream.wait();
    std::map<int, std::size_t> carried;
    auto const list = FakeCuda::copied();
    for (std::size_t i = before; i < list.size(); ++i)
      carried[Backend::Driver::device_of(to_device ? list[i].dst : list[i].src)] += list[i].bytes;
    CHECK(carried.size() == 4);
    for (auto const& [device, bytes] : carried) CHECK(bytes == arrays.bytes / 4);
  }
  CHECK(arrays.on_device(1));
}

TEST_CASE("copies that would gain nothing go over the own link", "[multi_path]") {
  FakeCuda::reset(3);
  FakeCuda::set_apart(2);
  Arrays arrays(256 * KiB);
  auto* const stream = arrays.stream.get();
  RelayedCopies const copies(0, {0, 1, 2}, equal_links(), "", small_rules());
  CHECK(copies.takes(arrays.device(), arrays.host.data(), arrays.bytes, stream));
  CHECK(copies.takes(arrays.host.data(), arrays.device(), arrays.bytes, stream));
  CHECK_THAT(copies.explain(), ContainsSubstring("not through device 2: no link"));
  CHECK_FALSE(copies.takes(arrays.device(), arrays.host.data(), 255 * KiB, stream));
  std::vector<char> const pageable(arrays.bytes);
  CHECK_FALSE(copies.takes(arrays.device(), pageable.data(), arrays.bytes, stream));
  RelayedCopies const of_another(1, {0}, equal_links(), "", small_rules());
  CHECK_FALSE(of_another.takes(arrays.device(), arrays.host.data(), arrays.bytes, stream));
  RelayedCopies const forbidden(0, {}, equal_links(), ": it is off", small_rules());
  CHECK_FALSE(forbidden.takes(arrays.device(), arrays.host.data(), arrays.bytes, stream));
  CHECK_THAT(forbidden.explain(), ContainsSubstring("alone: it is off"));
  auto probe         = equal_links();
  probe.share_uplink = [](int, int) { return true; };
  RelayedCopies const switched(0, {1}, probe, "", small_rules());
  CHECK_FALSE(switched.takes(arrays.device(), arrays.host.data(), arrays.bytes, stream));
  arrays.stream.begin_capture();
  CHECK_FALSE(copies.takes(arrays.device(), arrays.host.data(), arrays.bytes, stream));
  CHECK(arrays.stream.end_capture());
}

TEST_CASE(
    "a neighbour without memory, with a failure, or whose link is busy is left out for a while",
    "[multi_path]") {
  FakeCuda::reset(2);
  Arrays arrays(256 * KiB);
  FakeCuda::fail_nth_call("cudaMalloc", 1);
  RelayedCopies copies(0, {1}, equal_links(), "", small_rules());
  CHECK_THAT(copies.explain(), ContainsSubstring("no memory left"));
  auto const enqueue = [&] {
    std::size_t const before = FakeCuda::calls("cudaMemcpyAsync");
    copies.enqueue(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get());
    arrays.stream.wait();
    return FakeCuda::calls("cudaMemcpyAsync") - before > 1;
  };
  auto const left_out = [&] {
    for (int n = 0; n < small_rules().pause; ++n)
      if (enqueue()) return false;
    return true;
  };
  CHECK(left_out());
  FakeCuda::events_are_apart(std::chrono::microseconds(10));
  CHECK(enqueue());
  CHECK(enqueue());
  FakeCuda::events_are_apart(std::chrono::seconds(1));
  CHECK_FALSE(enqueue());
  CHECK_THAT(copies.explain(), ContainsSubstring("next 15 copies (its link is busy)"));
  for (int n = 1; n < small_rules().pause; ++n) CHECK_FALSE(enqueue());
  CHECK(enqueue());
  CHECK(left_out());
  FakeCuda::events_are_apart(std::chrono::microseconds(10));
  CHECK(enqueue());
  CHECK(enqueue());
  FakeCuda::fail_nth_call("cudaMemcpyAsync", 2);  // the first one is of the own link
  CHECK(enqueue());
  CHECK_THAT(copies.explain(), ContainsSubstring("left out of the next 16 copies"));
  CHECK(left_out());
  CHECK(enqueue());
  CHECK(arrays.on_device(1));
}

TEST_CASE("whichever call of a copy fails, nothing is lost, and the next copy is right",
          "[multi_path]") {
  for (int const error : {2, 719})
    for (bool const lasts : {false, true})
      for (std::size_t n = 1;; ++n) {
        FakeCuda::reset(3);
        bool met = false;
        {
          Arrays arrays(128 * KiB);
          std::unique_ptr<RelayedCopies> copies;
          bool threw = false;
          {
            FailNth::Planned const planned({FailNth::Source::cuda, n, lasts, error});
            copies = std::make_unique<RelayedCopies>(0, std::vector{1, 2}, equal_links(), "",
                                                     small_rules());
            try {
              copies->enqueue(arrays.device(), arrays.host.data(), arrays.bytes,
                              arrays.stream.get());
            } catch (KokkosHostSpaces::DeviceError const&) {
              threw = true;
            }
            met = FailNth::is_met();
          }
          INFO("call " << n << ", error " << error << ", lasts " << lasts);
          arrays.stream.wait();
          // Where all later calls fail, waiting for the relay did as well.
          for (int device = 0; device < 3 && lasts; ++device) {
            cudaSetDevice(device);
            cudaDeviceSynchronize();
          }
          cudaSetDevice(0);
          if (!threw) CHECK(arrays.on_device(1));
          std::fill_n(arrays.host.begin(), arrays.host.size(), 0U);
          copies->enqueue(arrays.host.data(), arrays.device(), arrays.bytes, arrays.stream.get());
          arrays.stream.wait();
          if (!threw) CHECK(arrays.on_host(1));
        }
        CHECK(FakeCuda::nothing_leaked());
        CHECK(FakeCuda::outstanding().device_allocations == 0);
        if (!met) break;
      }
}

TEST_CASE("a copy that throws leaves no relay under way", "[multi_path]") {
  FakeCuda::reset(3);
  Arrays arrays(384 * KiB);
  RelayedCopies copies(0, {1, 2}, equal_links(), "", small_rules());
  std::fill_n(arrays.device(), arrays.host.size(), 0U);
  DeviceWork::Gate gate;
  arrays.stream.run(gate.hold());
  // The first neighbour fails; then its part on the own link, behind that link's part and the second neighbour's.
  std::size_t const before = FakeCuda::calls("cudaMemcpyAsync");
  std::size_t const failed = 2 * relay_chunks(arrays.bytes / 3, true, small_rules()).size() + 2;
  FakeCuda::fail_nth_call("cudaStreamWaitEvent", 1);
  FakeCuda::fail_nth_call("cudaMemcpyAsync", failed);
  std::thread opens([&] {
    while (FakeCuda::calls("cudaMemcpyAsync") < before + failed) std::this_thread::yield();
    gate.open();
  });
  CHECK_THROWS_AS(
      copies.enqueue(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get()),
      KokkosHostSpaces::DeviceError);
  CHECK(arrays.device()[arrays.host.size() - 1] == arrays.host.back());
  opens.join();
}

TEST_CASE("peer access that others have enabled is used and stays", "[multi_path]") {
  FakeCuda::reset(2);
  DeviceWork::require(cudaDeviceEnablePeerAccess(1, 0), "cudaDeviceEnablePeerAccess");
  Arrays arrays(256 * KiB);
  {
    RelayedCopies copies(0, {1}, equal_links(), "", small_rules());
    copies.enqueue(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get());
    CHECK_THAT(copies.explain(), !ContainsSubstring("left out"));
  }
  CHECK(arrays.on_device(1));
  std::size_t const calls = FakeCuda::calls("cudaDeviceEnablePeerAccess");
  RelayedCopies const again(0, {1}, equal_links(), "", small_rules());
  CHECK(FakeCuda::calls("cudaDeviceEnablePeerAccess") == calls);  // it would be an error
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  CHECK(cudaGetLastError() == cudaErrorPeerAccessAlreadyEnabled);
}

}  // namespace RelayedCopiesTests
