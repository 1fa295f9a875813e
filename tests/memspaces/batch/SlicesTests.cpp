// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Slices of two Views, in every build: which arguments deep_copy_all takes, and what it refuses.
// Contents: BatchEqualsMemmove.cpp.

#include "../KokkosTest.hpp"

#include <span>

namespace SlicesOfViews {

using Execution   = Kokkos::DefaultExecutionSpace;
using DeviceSpace = Execution::memory_space;
using Slices      = std::vector<khs::Slice>;
template <class Value>
using Host = Kokkos::View<Value*, khs::PinnedSpace>;
template <class Value>
using Device = Kokkos::View<Value*, DeviceSpace>;

template <class Dst>
auto values_of(Dst const& view) {
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<typename Dst::non_const_value_type>(copy.data(), copy.data() + copy.size());
}

template <class View>
View numbered(std::string const& label, std::size_t n, int first) {
  View const view(label, n);
  auto const host = Kokkos::create_mirror_view(Kokkos::HostSpace(), view);
  for (std::size_t i = 0; i < n; ++i)
    host(i) = typename View::value_type(std::uint32_t(first) + i * 2654435761u);
  Kokkos::deep_copy(view, host);
  return view;
}

TEST_CASE("slices are given as any list, none is fine, and one on itself is nothing to do",
          "[deep_copy]") {
  auto const device = numbered<Device<int>>("device", 100, 2);
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
  auto const from = numbered<Device<double>>("alpha", 1000, 5);
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

}  // namespace SlicesOfViews
