// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kokkos' containers with their memory in each space, as Kokkos' pages describe them.

#include "Spaces.hpp"

#include <Kokkos_DualView.hpp>
#include <Kokkos_DynRankView.hpp>
#include <Kokkos_OffsetView.hpp>
#include <Kokkos_ScatterView.hpp>
#include <Kokkos_UnorderedMap.hpp>

// On the host alone: a device's resize moves the elements by a kernel, which counts no references.
TEMPLATE_TEST_CASE("a View of Views holds its elements until it is destroyed", "[conformance]",
                   OnHost<khs::PinnedSpace>) {
  using Inner = Kokkos::View<int*, TestType>;
  Inner const kept("kept", 10);
  {
    Kokkos::View<Inner*, TestType> outer(Kokkos::view_alloc("outer", Kokkos::SequentialHostInit),
                                         3);
    CHECK_FALSE(outer(2).is_allocated());
    outer(0) = kept;
    outer(1) = Inner("own", 20);
    CHECK(kept.use_count() == 2);
    Kokkos::resize(Kokkos::view_alloc(Kokkos::SequentialHostInit), outer, 5);
    CHECK((outer(0).data() == kept.data() && outer(1).extent(0) == 20));
    CHECK((outer(1).label() == "own" && outer.label() == "outer"));
    CHECK(kept.use_count() == 2);
  }
  CHECK(kept.use_count() == 1);
}

TEMPLATE_TEST_CASE("a DynRankView has any rank, is resized, copied and mirrored", "[conformance]",
                   KOKKOS_HOST_SPACES_DEVICES) {
  using View = Kokkos::DynRankView<double, TestType>;
  View view("dynamic", 3, 4, 5);
  CHECK((view.rank() == 3 && view.label() == "dynamic" && view.size() == 60));
  CHECK(view(2, 3, 4) == 0);
  Kokkos::deep_copy(view, 2.);
  Kokkos::fence();
  CHECK(view(2, 3, 4) == 2);
  view(1, 2, 3) = 7;
  Kokkos::resize(view, 4, 5, 6);
  CHECK((view(1, 2, 3) == 7 && view.extent(2) == 6 && view.label() == "dynamic"));

  auto const part = Kokkos::subdynrankview(view, 1, Kokkos::ALL, 3);
  CHECK((part.rank() == 1 && part(2) == 7));
  CHECK(Kokkos::create_mirror_view(view).data() == view.data());
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  CHECK((host.rank() == 3 && host(1, 2, 3) == 7));
  Kokkos::DynRankView<double, typename decltype(host)::array_layout, Kokkos::HostSpace> const heap(
      "heap", 4, 5, 6);
  Kokkos::deep_copy(heap, 3.);
  Kokkos::deep_copy(view, heap);
  CHECK(view(3, 4, 5) == 3);
  Kokkos::realloc(view, 2, 2);
  CHECK((view.extent(0) == 2 && view(1, 1) == 0));
}

TEMPLATE_TEST_CASE("an OffsetView counts from its begins, in copies and mirrors too",
                   "[conformance]", KOKKOS_HOST_SPACES_DEVICES) {
  using View = Kokkos::Experimental::OffsetView<int**, TestType>;
  View const view("offset", {-1, 2}, {2, 5});
  CHECK((view.label() == "offset" && view.size() == 16));
  CHECK((view.begin(0) == -1 && view.end(0) == 3 && view.begin(1) == 2 && view.end(1) == 6));
  for (int i = -1; i < 3; ++i)
    for (int j = 2; j < 6; ++j) view(i, j) = 10 * i + j;

  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  CHECK((host.begin(0) == -1 && host(2, 5) == 25));
  CHECK(Kokkos::create_mirror_view(view).data() == view.data());
  Kokkos::Experimental::OffsetView<int**, typename View::array_layout, Kokkos::HostSpace> const
      heap("heap", {-1, 2}, {2, 5});
  Kokkos::deep_copy(heap, view);
  CHECK(heap(-1, 2) == -8);
  auto const row = Kokkos::subview(view, Kokkos::ALL, 3);
  CHECK((row.begin(0) == -1 && &row(0) == &view(0, 3)));
  Kokkos::View<int*, TestType> const plain("plain", 4);
  Kokkos::Experimental::OffsetView<int*, TestType> const of_view(plain, {-2});
  CHECK((&of_view(-2) == &plain(0) && plain.use_count() == 2));
  CHECK(of_view.view().data() == plain.data());
}

TEMPLATE_TEST_CASE("a DualView keeps both of its sides equal", "[conformance]",
                   KOKKOS_HOST_SPACES_DEVICES) {
  using Dual = Kokkos::DualView<int*, TestType>;
  Dual dual("dual", 100);
  STATIC_CHECK(std::is_same_v<typename Dual::t_dev::memory_space, typename TestType::memory_space>);
  CHECK((dual.view_device().label() == "dual" && dual.extent(0) == 100));
  auto const host = dual.view_host();
  for (int i = 0; i < 100; ++i) host(i) = i;
  dual.modify_host();
  dual.sync_device();
  auto const device = dual.view_device();
  using Policy      = Kokkos::RangePolicy<typename TestType::execution_space>;
  Kokkos::parallel_for(
      "double", Policy(0, 100), KOKKOS_LAMBDA(int i) { device(i) *= 2; });
  dual.modify_device();
  dual.sync_host();
  CHECK((dual.view_host()(99) == 198 && !dual.need_sync_host() && !dual.need_sync_device()));
  dual.resize(200);
  dual.sync_host();
  CHECK((dual.view_host()(99) == 198 && dual.view_host()(199) == 0));
  dual.realloc(50);
  CHECK((dual.extent(0) == 50 && dual.view_host()(49) == 0));
}

TEMPLATE_TEST_CASE("a ScatterView sums what all threads contribute", "[conformance][parallel]",
                   KOKKOS_HOST_SPACES_DEVICES) {
  using Policy = Kokkos::RangePolicy<typename TestType::execution_space>;
  Kokkos::View<int*, TestType> sums("sums", 10);
  auto scatter = Kokkos::Experimental::create_scatter_view(sums);
  STATIC_CHECK(
      std::is_same_v<typename decltype(scatter)::memory_space, typename TestType::memory_space>);
  for (int round = 1; round <= 2; ++round) {
    Kokkos::parallel_for(
        "scatter", Policy(0, 10000), KOKKOS_LAMBDA(int i) {
          auto const access = scatter.access();
          access(i % 10) += i;
        });
    Kokkos::Experimental::contribute(sums, scatter);
    Kokkos::fence();
    CHECK((sums(0) == round * 4995000 && sums(9) == round * 5004000));
    scatter.reset_except(sums);
  }
}

TEMPLATE_TEST_CASE("an UnorderedMap takes, finds and erases keys, and is copied to another space",
                   "[conformance][parallel]", KOKKOS_HOST_SPACES_DEVICES) {
  using Map    = Kokkos::UnorderedMap<int, long, TestType>;
  using Policy = Kokkos::RangePolicy<typename TestType::execution_space>;
  Map map(1000);
  Kokkos::parallel_for(
      "insert", Policy(0, 1500), KOKKOS_LAMBDA(int i) { map.insert(7 * (i % 500), i % 500); });
  Kokkos::fence();
  CHECK((map.size() == 500 && !map.failed_insert()));
  map.rehash(4000);
  CHECK((map.size() == 500 && map.capacity() >= 4000));
  int found = 0;
  Kokkos::parallel_reduce(
      "find", Policy(0, 1000),
      KOKKOS_LAMBDA(int i, int& sum) {
        auto const index = map.find(7 * i);
        sum += map.valid_at(index) && map.value_at(index) == i;
      },
      found);
  CHECK(found == 500);

  Kokkos::UnorderedMap<int, long, OnHost<Kokkos::HostSpace>> host;
  host.create_copy_view(map);
  CHECK((host.size() == 500 && host.value_at(host.find(7 * 499)) == 499));
  map.begin_erase();
  Kokkos::parallel_for(
      "erase", Policy(0, 100), KOKKOS_LAMBDA(int i) { map.erase(7 * i); });
  Kokkos::fence();
  map.end_erase();
  CHECK(map.size() == 400);
  map.clear();
  CHECK(map.size() == 0);
}
