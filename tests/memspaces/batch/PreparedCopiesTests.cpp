// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies that are planned once and made often, in every build. Contents: BatchEqualsMemmove.cpp.

#include <KokkosHostSpaces.hpp>

#include <Kokkos_Graph.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace PreparedCopiesTests {

namespace khs = KokkosHostSpaces;
using Catch::Matchers::ContainsSubstring;

using Execution   = Kokkos::DefaultExecutionSpace;
using DeviceSpace = Execution::memory_space;
using Host        = Kokkos::View<int*, khs::PinnedSpace>;
using Device      = Kokkos::View<int*, DeviceSpace>;
using Range       = std::pair<std::size_t, std::size_t>;

// Parts of one View at the host and of one on the device, in random order: there and back again.
struct Halo {
  explicit Halo(unsigned seed, std::size_t most_bytes) {
    std::mt19937 random(seed);
    std::size_t const most = most_bytes / sizeof(int);
    std::vector<Range> ranges;
    std::size_t n = 0;
    for (std::size_t i = 0; i < 1 + seed * 7 % 200; ++i) {
      std::size_t const length = random() % most;
      ranges.emplace_back(n, n + length);
      n += length + random() % 3 * (random() % most);
    }
    std::shuffle(ranges.begin(), ranges.end(), random);
    source   = Host("source", n + 1);
    back     = Host("back", n + 1);
    device   = Device("device", n + 1);
    expected = std::vector<int>(n + 1, -1);
    for (Range const& range : ranges) {
      Device const on_device = Kokkos::subview(device, range);
      to_device.push_back(khs::copy_of(on_device, Host(Kokkos::subview(source, range))));
      to_host.push_back(khs::copy_of(Host(Kokkos::subview(back, range)), on_device));
    }
  }

  void fill(int step) {
    std::iota(source.data(), source.data() + source.size(), step * 100000);
    std::fill_n(back.data(), back.size(), -1);
    for (auto const& [dst, part] : to_device)
      std::copy_n(part.data(), part.size(), expected.data() + (part.data() - source.data()));
  }
  bool is_right() const { return std::equal(expected.begin(), expected.end(), back.data()); }

  Host source, back;
  Device device;
  std::vector<int> expected;
  std::vector<std::pair<Device, Host>> to_device;
  std::vector<std::pair<Host, Device>> to_host;
};

TEST_CASE("prepared copies hold their Views, and may go while they are made", "[deep_copy]") {
  Execution const instance;
  Host const back("back", 100 * 50);
  std::vector<Host> backs;
  for (std::size_t k = 0; k < 100; ++k)
    backs.push_back(Kokkos::subview(back, Range(50 * k, 50 * k + 40)));
  khs::PreparedCopies<Execution> there, from_device;
  khs::deep_copy_all(instance, there);  // nothing
  {
    std::vector<std::pair<Device, Host>> to_device;
    std::vector<std::pair<Host, Device>> to_host;
    for (std::size_t k = 0; k < 100; ++k) {
      Host const source("source", 40);
      for (std::size_t i = 0; i < 40; ++i) source(i) = int(1000 * k + i);
      to_device.emplace_back(Device("device", 40), source);
      to_host.emplace_back(backs[k], to_device[k].first);
    }
    there       = khs::prepare_deep_copy_all(instance, to_device);
    from_device = khs::prepare_deep_copy_all(instance, to_host);
  }
  std::vector<Host> others;
  for (int i = 0; i < 200; ++i) {
    others.emplace_back("other", 40);
    Kokkos::deep_copy(others.back(), -1);
  }
  khs::deep_copy_all(instance, there);
  there = {};
  khs::deep_copy_all(instance, from_device);
  from_device = {};
  instance.fence();
  int wrong = 0;
  for (std::size_t k = 0; k < 100; ++k)
    for (std::size_t i = 0; i < 40; ++i) wrong += backs[k](i) != int(1000 * k + i);
  CHECK(wrong == 0);
}

TEST_CASE("Views of several types, layouts and spaces are prepared, and ranges", "[deep_copy]") {
  Host const a("a", 10), b("b", 10), a_back("a_back", 10), b_back("b_back", 10);
  Device const da("da", 10), db("db", 10);
  Kokkos::View<int**, Kokkos::LayoutRight, khs::MappedSpace> const rows("rows", 5, 7);
  Kokkos::View<int**, Kokkos::LayoutLeft, DeviceSpace> const columns("columns", 5, 7);
  Kokkos::View<int**, Kokkos::LayoutLeft, khs::PinnedSpace> const turned("turned", 5, 7);
  Kokkos::View<float*, Kokkos::HostSpace> const pageable("pageable", 20);
  Kokkos::View<float*, khs::PinnedSpace> const floats("floats", 20);
  auto const check = [&](auto const& instance) {
    auto const range =
        khs::prepare_deep_copy_all(instance, std::array{khs::copy_of(da, a), khs::copy_of(db, b)});
    auto const there = khs::prepare_deep_copy_all(instance, khs::copy_of(columns, rows),
                                                  khs::copy_of(floats, pageable));
    auto const back =
        khs::prepare_deep_copy_all(instance, khs::copy_of(a_back, da),
                                   khs::copy_of(turned, columns), khs::copy_of(b_back, db));
    for (int step = 1; step < 4; ++step) {
      for (int i = 0; i < 10; ++i) b(i) = 7 * (a(i) = step * i);
      for (int i = 0; i < 35; ++i) rows(i / 7, i % 7) = step * i;
      for (int i = 0; i < 20; ++i) pageable(i) = float(step * i);
      khs::deep_copy_all(instance, range);
      khs::deep_copy_all(instance, there);
      khs::deep_copy_all(instance, back);
      instance.fence();
      CHECK(a_back(9) == step * 9);
      CHECK(b_back(9) == step * 63);
      CHECK(turned(4, 6) == step * 34);
      CHECK(floats(19) == float(step * 19));
    }
  };
  check(Execution());
  check(Kokkos::DefaultHostExecutionSpace());
}

TEST_CASE("prepared copies without an instance are done on return", "[deep_copy]") {
  Execution const instance;
  Halo halo(3, 4000);
  auto const there = khs::prepare_deep_copy_all(instance, halo.to_device);
  auto const back  = khs::prepare_deep_copy_all(instance, halo.to_host);
  for (int step = 0; step < 3; ++step) {
    halo.fill(step);
    khs::deep_copy_all(there);
    khs::deep_copy_all(back);
    CHECK(halo.is_right());
  }
}

TEST_CASE("several threads make the same prepared copies at once", "[deep_copy]") {
  Halo halo(29, 400);
  halo.fill(1);
  Execution const own;
  auto const there = khs::prepare_deep_copy_all(own, halo.to_device);
  auto const back  = khs::prepare_deep_copy_all(own, halo.to_host);
  khs::deep_copy_all(own, there);
  own.fence();
  auto const instances = Kokkos::Experimental::partition_space(own, 1, 1, 1, 1);
  std::vector<std::thread> threads;
  for (auto const& instance : instances)
    threads.emplace_back([&] {
      for (int time = 0; time < 20; ++time) khs::deep_copy_all(instance, back);
      instance.fence();
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(halo.is_right());
}

TEST_CASE("what is wrong with one of the copies is told when they are prepared", "[deep_copy]") {
  Host const a("alpha", 10), b("beta", 10), c("gamma", 11);
  Execution const instance;
  auto const part = [](Host const& view, std::size_t begin, std::size_t end) {
    return Kokkos::subview(view, Range(begin, end));
  };
  CHECK_THROWS_WITH(
      (void)khs::prepare_deep_copy_all(instance, khs::copy_of(b, a), khs::copy_of(b, c)),
      ContainsSubstring("gamma") && ContainsSubstring("(11)"));
  CHECK_THROWS_WITH(
      (void)khs::prepare_deep_copy_all(instance, khs::copy_of(part(b, 0, 6), part(a, 0, 6)),
                                       khs::copy_of(part(b, 5, 10), part(a, 0, 5))),
      ContainsSubstring("beta") && ContainsSubstring("make two calls"));
}

TEST_CASE("prepared copies are a node of a graph, which holds them", "[graph]") {
  Execution const instance;
  Halo halo(150, 200), large(5, 400000);
  auto const graph = [&] {
    auto const there       = khs::prepare_deep_copy_all(instance, halo.to_device);
    auto const back        = khs::prepare_deep_copy_all(instance, halo.to_host);
    auto const large_there = khs::prepare_deep_copy_all(instance, large.to_device);
    auto const large_back  = khs::prepare_deep_copy_all(instance, large.to_host);
    return Kokkos::Experimental::create_graph<Execution>([&](auto root) {
      khs::then_deep_copy(khs::then_deep_copy(root, there), back);
      khs::then_deep_copy(khs::then_deep_copy(root, large_there), large_back);
    });
  }();
  for (int step = 0; step < 3; ++step) {
    halo.fill(step);
    large.fill(step);
    graph.submit(instance);
    instance.fence();
    CHECK(halo.is_right());
    CHECK(large.is_right());
  }
}

}  // namespace PreparedCopiesTests
