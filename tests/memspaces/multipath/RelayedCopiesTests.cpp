// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies over the links of several devices, on the fake CUDA runtime.

#include "../FakeTest.hpp"
#include "../../support/FailNth.hpp"

#include <KokkosHostSpaces/impl/multipath/RelayedCopies.hpp>

#include <cstring>

namespace RelayedCopiesTests {

using namespace KokkosHostSpaces::Impl;

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
// 0, 1, 2 and so on: compared as a whole, as loops take long under ThreadSanitizer.
std::vector<std::uint32_t> const& numbers() {
  static std::vector<std::uint32_t> const all = [] {
    std::vector<std::uint32_t> made(4 * KiB * KiB);
    std::iota(made.begin(), made.end(), 0U);
    return made;
  }();
  return all;
}

class Arrays {
 public:
  explicit Arrays(std::size_t size)
      : host(numbers().begin() + 1, numbers().begin() + 1 + std::ptrdiff_t(size)),
        bytes(size * sizeof(std::uint32_t)) {
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
    return std::memcmp(values, numbers().data() + first, bytes) == 0;
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
  FakeCuda::device_memory_is_of_pools();
  CHECK_FALSE(copies.takes(arrays.device(), arrays.host.data(), arrays.bytes, stream));
}

TEST_CASE("a copy in a capture goes over the own link", "[multi_path]") {
  FakeCuda::reset(2);
  Arrays arrays(256 * KiB);
  auto* const stream = arrays.stream.get();
  RelayedCopies const copies(0, {1}, equal_links(), "", small_rules());
  CHECK(copies.takes(arrays.device(), arrays.host.data(), arrays.bytes, stream));
  arrays.stream.begin_capture();
  CHECK_FALSE(copies.takes(arrays.device(), arrays.host.data(), arrays.bytes, stream));
  CHECK(arrays.stream.end_capture());
}

TEST_CASE("a neighbour that is named twice is one, and a slow one keeps no other from helping",
          "[multi_path]") {
  FakeCuda::reset(3);
  Arrays arrays(256 * KiB);
  auto probe = equal_links();
  probe.rate = [](int device) { return device == 1 ? 1e9 : 5e10; };
  RelayedCopies copies(0, {1, 2, 0, 2}, probe, "", small_rules());
  CHECK(FakeCuda::outstanding().device_allocations == 3);
  copies.enqueue(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get());
  arrays.stream.wait();
  std::map<int, std::size_t> carried;
  for (auto const& copied : FakeCuda::copied())
    carried[Backend::Driver::device_of(copied.dst)] += copied.bytes;
  CHECK(carried == std::map<int, std::size_t>{{0, arrays.bytes / 2}, {2, arrays.bytes / 2}});
  CHECK(arrays.on_device(1));
}

TEST_CASE("streams that went with a reset of their device are not touched", "[multi_path]") {
  for (bool const releases : {false, true}) {
    FakeCuda::reset(2);
    auto copies =
        std::make_unique<RelayedCopies>(0, std::vector{1}, equal_links(), "", small_rules());
    FakeCuda::reset_device(1);
    std::size_t const waited = FakeCuda::calls("cudaStreamSynchronize");
    if (releases) copies->release();
    copies.reset();
    CHECK(FakeCuda::calls("cudaStreamSynchronize") == waited);
  }
  FakeCuda::reset(2);
}

TEST_CASE("captures of others stay whole", "[multi_path]") {
  for (int const device : {0, 1}) {
    FakeCuda::reset(2);
    Arrays arrays(256 * KiB);
    DeviceWork::use(device);
    DeviceWork::Stream other(DeviceWork::Stream::Kind::blocking);
    DeviceWork::use(0);
    other.begin_capture(cudaStreamCaptureModeGlobal);
    {
      RelayedCopies copies(0, {1}, equal_links(), "", small_rules());
      for (int i = 0; i < 2; ++i)
        copies.enqueue(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get());
      copies.release();
      copies.enqueue(arrays.host.data(), arrays.device(), arrays.bytes, arrays.stream.get());
      CHECK_THAT(copies.explain(), !ContainsSubstring("left out"));
    }
    CHECK(other.end_capture());
    CHECK(arrays.on_host(1));
  }
}

TEST_CASE("a child of a fork destroys what its parent made", "[multi_path]") {
  FakeCuda::reset(2);
  Arrays arrays(256 * KiB);
  auto copies =
      std::make_unique<RelayedCopies>(0, std::vector{1}, equal_links(), "", small_rules());
  copies->enqueue(arrays.device(), arrays.host.data(), arrays.bytes, arrays.stream.get());
  CHECK(ChildOfFork::status([&] {
          copies->release();
          copies.reset();
          return 0;
        }) == 0);
}

namespace {

// Copies of random bytes at any offset, in both directions between kernels, by two objects on one stream.
class RandomCopies {
 public:
  RandomCopies(int device, int devices, unsigned seed) : m_random(seed) {
    DeviceWork::use(device);
    std::vector<int> all = others(devices);
    all.push_back(0);
    for (int i = 0; i < 2; ++i)
      m_copies.push_back(
          std::make_unique<RelayedCopies>(device, all, equal_links(), "", small_rules()));
    m_stream.emplace();
    for (Bytes* const locked : {&m_host, &m_back})
      Backend::Driver::lock_pages(locked->data(), most);
    void* memory = nullptr;
    DeviceWork::require(cudaMalloc(&memory, most), "cudaMalloc");
    m_device = static_cast<unsigned char*>(memory);
    std::generate(m_host.begin(), m_host.end(),
                  [&] { return static_cast<unsigned char>(m_random()); });
    std::fill_n(m_device, most, static_cast<unsigned char>(0));
  }
  ~RandomCopies() {
    m_copies.clear();
    m_stream.reset();
    cudaFree(m_device);
    for (Bytes* const locked : {&m_host, &m_back})
      Backend::Driver::unlock_pages(locked->data(), most);
  }
  RandomCopies(RandomCopies const&)            = delete;
  RandomCopies& operator=(RandomCopies const&) = delete;

  bool are_right() {
    for (int i = 0; i < 20; ++i) {
      if (m_random() % 2 == 0)
        copy(m_device, m_host.data(), m_on_device.data(), m_host.data());
      else
        copy(m_back.data(), m_device, m_copied_back.data(), m_on_device.data());
      m_stream->run([device = m_device] { kernel(device); });
      kernel(m_on_device.data());
      if (i == 10) m_copies[0]->release();
    }
    m_stream->wait();
    return m_back == m_copied_back && std::equal(m_on_device.begin(), m_on_device.end(), m_device);
  }

 private:
  using Bytes                       = std::vector<unsigned char>;
  static constexpr std::size_t most = 1000003, shift = 5000, least = 256 * KiB;

  static void kernel(unsigned char* bytes) {
    for (std::size_t b = 0; b < most; b += 7) bytes[b] ^= 5;
  }
  void copy(unsigned char* to, unsigned char const* from, unsigned char* expected,
            unsigned char const* of) {
    std::size_t const dst = m_random() % shift, src = m_random() % shift;
    std::size_t const bytes = least + m_random() % (most - shift - least);
    m_copies[m_random() % 2]->enqueue(to + dst, from + src, bytes, m_stream->get());
    std::copy_n(of + src, bytes, expected + dst);
  }

  std::mt19937 m_random;
  std::vector<std::unique_ptr<RelayedCopies>> m_copies;
  std::optional<DeviceWork::Stream> m_stream;
  Bytes m_host = Bytes(most), m_back = Bytes(most), m_on_device = Bytes(most),
        m_copied_back     = Bytes(most);
  unsigned char* m_device = nullptr;
};

}  // namespace

TEST_CASE("copies of several threads, at any offset, on two devices are right", "[multi_path]") {
  for (int devices : {2, 4, 8}) {
    FakeCuda::reset(devices);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned seed : {1, 2, 3})
      threads.emplace_back([&, seed] {
        if (!RandomCopies(seed == 3 ? 1 : 0, devices, seed).are_right()) ++wrong;
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(FakeCuda::nothing_leaked());
    CHECK(FakeCuda::outstanding().device_allocations == 0);
  }
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
  // Under a sanitizer each third call, all where the environment asks for many cases.
  std::size_t const step = sanitized && rounds(0) == 0 ? 3 : 1;
  std::size_t first      = 0;
  for (int const error : {2, 719})
    for (bool const lasts : {false, true})
      for (std::size_t n = 1 + first++ % step;; n += step) {
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
