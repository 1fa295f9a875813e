// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// deep_copy_all equals memmove piece by piece, in every build: Views, slices, and both prepared. Which slices it takes,
// and what it refuses.

#include "../KokkosTest.hpp"

#include <Kokkos_Graph.hpp>

#include <span>

namespace BatchEqualsMemmove {

using Execution = Kokkos::DefaultExecutionSpace;
using Slices    = std::vector<khs::Slice>;
template <class Value>
using Host = Kokkos::View<Value*, khs::PinnedSpace>;
template <class Value>
using Device = Kokkos::View<Value*, Execution::memory_space>;

// Slices that do not overlap at the destination: with gaps or without, at equal distances or not, in
// order or shuffled, some empty; sources follow the destinations or lie anywhere.
struct Batch {
  Slices slices;
  std::size_t extent = 1;  // of both arrays
};
Batch random_batch(std::mt19937& random) {
  bool const are_long     = random() % 8 == 0;
  std::size_t const count = 1 + random() % (random() % 4 == 0 && !are_long ? 3000 : 90);
  std::size_t const most  = are_long ? 4000 : 1 + random() % 40;
  bool const regular = random() % 3 == 0, gaps = random() % 2 == 0, jumps = random() % 2 == 0;
  Batch batch;
  std::size_t to = random() % 5, from = random() % 5, length = 1 + random() % most;
  std::size_t const to_gap = gaps ? random() % 5 : 0, from_gap = gaps ? random() % 5 : 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (!regular) length = random() % (most + 1);
    if (!regular && jumps && random() % 4 == 0) from = random() % (count * most);
    batch.slices.push_back({to, from, length});
    to += length + to_gap;
    from += length + from_gap;
    batch.extent = std::max({batch.extent, to, from});
  }
  if (random() % 2 == 0) std::shuffle(batch.slices.begin(), batch.slices.end(), random);
  return batch;
}

template <class View>
std::vector<typename View::non_const_value_type> values_of(View const& view) {
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {copy.data(), copy.data() + copy.size()};
}

template <class View>
void fill(View const& view, unsigned seed) {
  auto const host = Kokkos::create_mirror_view(Kokkos::HostSpace(), view);
  for (std::size_t i = 0; i < view.size(); ++i)
    host(i) = typename View::value_type((i + seed) * 2654435761u >> 7);
  Kokkos::deep_copy(view, host);
}

// The slices as pairs of Views.
template <class Dst, class Src>
std::vector<std::pair<Dst, Src>> cut(Dst const& dst, Src const& src, Slices const& slices) {
  std::vector<std::pair<Dst, Src>> pairs;
  for (khs::Slice const& slice : slices)
    pairs.emplace_back(Kokkos::subview(dst, std::pair(slice.dst, slice.dst + slice.count)),
                       Kokkos::subview(src, std::pair(slice.src, slice.src + slice.count)));
  return pairs;
}

// Copies by `copy()`, and compares each element of `dst` with what single assignments make of it.
template <class Instance, class Dst, class Src, class Copy>
void check(Instance const& instance, Dst const& dst, Src const& src, Slices const& slices,
           unsigned seed, Copy const& copy) {
  fill(dst, seed);
  fill(src, seed + 1);
  auto expected   = values_of(dst);
  auto const from = values_of(src);
  for (khs::Slice const& slice : slices)
    for (std::size_t i = 0; i < slice.count; ++i) expected[slice.dst + i] = from[slice.src + i];
  copy();
  instance.fence();
  REQUIRE(values_of(dst) == expected);
}

template <class Instance, class Dst, class Src>
void check_all_ways(Instance const& instance, Dst const& dst, Src const& src, Slices const& slices,
                    unsigned seed) {
  auto const pairs    = cut(dst, src, slices);
  auto const views    = khs::prepare_deep_copy_all(instance, pairs);
  auto const numbers  = khs::prepare_deep_copy_all(instance, dst, src, slices);
  auto const check_by = [&](auto const& copy) { check(instance, dst, src, slices, ++seed, copy); };
  check_by([&] { khs::deep_copy_all(instance, pairs); });
  check_by([&] { khs::deep_copy_all(instance, dst, src, slices); });
  for (int time = 0; time < 2; ++time) {
    check_by([&] { khs::deep_copy_all(instance, views); });
    check_by([&] { khs::deep_copy_all(instance, numbers); });
  }
}

template <class Value, class Instance>
void check_random(Instance const& instance, unsigned seed) {
  std::mt19937 random(seed);
  auto const [slices, extent] = random_batch(random);
  INFO("seed " << seed << ", " << slices.size() << " slices");
  Host<Value> const host("host", extent);
  Kokkos::View<Value*, khs::MappedSpace> const mapped("mapped", extent);
  Kokkos::View<Value*, Kokkos::LayoutRight, khs::WriteCombinedSpace> const combined("combined",
                                                                                    extent);
  Device<Value> const device("device", extent);
  Kokkos::View<Value*, Kokkos::HostSpace> const pageable("pageable", extent);
  switch (seed % 7) {
    case 0: return check_all_ways(instance, host, device, slices, seed);
    case 1: return check_all_ways(instance, device, Device<Value>("from", extent), slices, seed);
    case 2: return check_all_ways(instance, mapped, host, slices, seed);
    case 5: return check_all_ways(instance, combined, device, slices, seed);
    case 3: return check_all_ways(instance, device, pageable, slices, seed);
    case 4: return check_all_ways(instance, pageable, device, slices, seed);
    default: return check_all_ways(instance, device, host, slices, seed);
  }
}

TEMPLATE_TEST_CASE("a batch equals memmove piece by piece", "[deep_copy]", double, std::uint8_t) {
  for (unsigned seed = 0; seed < 49; ++seed) {
    check_random<TestType>(Execution(), seed);
    if (seed < 12) check_random<TestType>(Kokkos::DefaultHostExecutionSpace(), 1000 + seed);
  }
}

TEST_CASE("threads make the same prepared copies at once, and copies of their own", "[deep_copy]") {
  std::mt19937 random(29);
  Batch const batch = random_batch(random);
  Execution const own;
  Host<int> const to("to", batch.extent), source("source", 1000);
  Device<int> const from("from", batch.extent);
  auto const copies      = khs::prepare_deep_copy_all(own, to, from, batch.slices);
  std::atomic<int> wrong = 0;
  fill(source, 7);
  check(own, to, from, batch.slices, 3, [&] {
    Kokkos::fence();
    std::vector<std::jthread> threads;
    for (auto const& instance : Kokkos::Experimental::partition_space(own, 1, 1, 1, 1))
      threads.emplace_back([&, instance] {
        Host<int> const mine("mine", 1000);
        for (std::size_t time = 0; time < 20; ++time) {
          khs::deep_copy_all(instance, copies);
          khs::deep_copy_all(instance, mine, source, Slices{{900, time, 9}, {40 * time, 50, 30}});
          instance.fence();
          wrong += mine(908) != source(time + 8) || mine(40 * time + 29) != source(79);
        }
      });
  });
  CHECK(wrong == 0);
}

TEST_CASE("prepared copies are a node of a graph, which holds them", "[graph]") {
  Execution const instance;
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937 random(seed);
    Batch const batch = random_batch(random);
    INFO("seed " << seed << ", " << batch.slices.size() << " slices");
    Host<int> const in("in", batch.extent), out("out", batch.extent);
    Device<int> const there("there", batch.extent);
    auto const graph = Kokkos::Experimental::create_graph<Execution>([&](auto root) {
      auto const first = khs::then_deep_copy(
          root, khs::prepare_deep_copy_all(instance, cut(there, in, {{0, 0, batch.extent}})));
      khs::then_deep_copy(first, khs::prepare_deep_copy_all(instance, out, there, batch.slices));
    });
    for (unsigned step = 0; step < 3; ++step)
      check(instance, out, in, batch.slices, step, [&] { graph.submit(instance); });
  }
}

TEST_CASE("a batch whose pieces depend on each other is refused before anything is copied",
          "[deep_copy]") {
  Execution const instance;
  std::mt19937 random(11);
  int refused = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    Slices slices;
    for (std::size_t k = 0; k < 1 + random() % 20; ++k)
      slices.push_back({random() % 500, 600 + random() % 500, 1 + random() % 15});
    if (random() % 4 == 0) slices.push_back({620, 0, 5});  // may write what others read
    Device<int> const view("view", 1200);
    fill(view, seed);
    auto const before = values_of(view);
    auto expected     = before;
    std::vector<int> written(before.size(), 0);
    bool is_conflict = false;
    for (khs::Slice const& slice : slices)
      for (std::size_t i = 0; i < slice.count; ++i) {
        expected[slice.dst + i] = before[slice.src + i];
        is_conflict |= written[slice.dst + i]++ > 0;
      }
    for (khs::Slice const& slice : slices)
      for (std::size_t i = 0; i < slice.count; ++i) is_conflict |= written[slice.src + i] > 0;
    auto const pairs = cut(view, view, slices);
    if (!is_conflict) {
      khs::deep_copy_all(instance, view, view, slices);
      instance.fence();
      CHECK(values_of(view) == expected);
      continue;
    }
    ++refused;
    CHECK_THROWS_AS(khs::deep_copy_all(instance, view, view, slices), khs::Error);
    CHECK_THROWS_AS(khs::deep_copy_all(instance, pairs), khs::Error);
    CHECK_THROWS_AS((void)khs::prepare_deep_copy_all(instance, pairs), khs::Error);
    instance.fence();
    CHECK(values_of(view) == before);
  }
  CHECK((refused > 20 && refused < 90));
}

TEST_CASE("slices are given as any list, none is fine, and one on itself is nothing to do",
          "[deep_copy]") {
  Device<int> const device("device", 100);
  fill(device, 2);
  Execution const instance;
  Host<int> const to("to", 100);
  std::array<khs::Slice, 3> const few = {khs::Slice{5, 0, 10}, {0, 50, 5}, {20, 20, 0}};
  Kokkos::View<khs::Slice*, Kokkos::HostSpace> const listed("listed", 2);
  listed(0) = {30, 11, 2};
  listed(1) = {40, 21, 3};
  khs::deep_copy_all(instance, to, device, few);
  khs::deep_copy_all(instance, to, device, std::span(listed.data(), listed.size()));
  khs::deep_copy_all(instance, to, device, Slices());
  khs::deep_copy_all(instance, Host<int>(), Device<int>(), Slices{{0, 0, 0}});
  khs::deep_copy_all(instance, to, to, Slices{{50, 50, 10}});
  khs::deep_copy_all(instance,
                     khs::prepare_deep_copy_all(instance, to, device, Slices{{80, 3, 4}}));
  instance.fence();
  auto const from = values_of(device);
  CHECK((to(0) == from[50] && to(5) == from[0] && to(14) == from[9] && to(15) == 0 && to(20) == 0));
  CHECK((to(31) == from[12] && to(42) == from[23] && to(83) == from[6] && to(50) == 0));
}

TEST_CASE("what is wrong with one of many slices is told before any is copied", "[deep_copy]") {
  Device<double> const from("alpha", 1000);
  fill(from, 5);
  Host<double> const to("beta", 1000);
  auto const check = [&](auto const& instance, std::size_t count) {
    Slices slices;
    for (std::size_t k = 0; k < count; ++k) slices.push_back({5 * k, 5 * (k ^ (k >> 1)), 3});
    auto const refuses = [&](khs::Slice const& bad, auto const& words) {
      Slices spoiled     = slices;
      spoiled[count / 2] = bad;
      CHECK_THROWS_WITH(khs::deep_copy_all(instance, to, from, spoiled), words);
      CHECK_THROWS_AS((void)khs::prepare_deep_copy_all(instance, to, from, spoiled), khs::Error);
    };
    std::string const number = "slice " + std::to_string(count / 2);
    std::size_t const far    = std::size_t(0) - 1;
    refuses({998, 0, 3}, ContainsSubstring(number) &&
                             ContainsSubstring("3 elements from 998 on of \"beta\" (1000) in ") &&
                             ContainsSubstring("numbers of elements"));
    refuses({0, 1001, 0}, ContainsSubstring(number) && ContainsSubstring("\"alpha\" (1000)"));
    refuses({far, 0, 2}, ContainsSubstring("\"beta\""));
    refuses({900, far - 1, 3}, ContainsSubstring("\"alpha\""));
    refuses({900, 900, far}, ContainsSubstring("\"beta\""));
    if (count > 1)
      refuses({2, 900, 4}, ContainsSubstring(number + " of 4 elements from 2 on of \"beta\"") &&
                               ContainsSubstring("slice 0 of 3 elements") &&
                               ContainsSubstring("32 bytes") &&
                               ContainsSubstring("make two calls"));
  };
  for (std::size_t const count : {1, 4, 100}) {
    check(Execution(), count);
    check(Kokkos::DefaultHostExecutionSpace(), count);
  }
  auto const within = values_of(from);
  CHECK_THROWS_WITH(khs::deep_copy_all(Execution(), from, from, Slices{{0, 10, 5}, {100, 4, 5}}),
                    ContainsSubstring("slice 0 of") && ContainsSubstring("slice 1 of"));
  CHECK_THROWS_WITH(
      khs::deep_copy_all(Execution(), from, from, Slices{{500, 10, 5}, {100, 101, 5}}),
      ContainsSubstring("slice 1 of") && ContainsSubstring("third View"));
  Kokkos::fence();
  CHECK(values_of(from) == within);
  CHECK(values_of(to) == std::vector<double>(1000));
}

}  // namespace BatchEqualsMemmove
