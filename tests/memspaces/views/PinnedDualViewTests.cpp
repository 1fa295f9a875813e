// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A PinnedDualView behaves as a Kokkos::DualView, and its host side stays pinned; mirrors in PinnedSpace.

#include "../KokkosTest.hpp"

#include <Kokkos_DualView.hpp>

namespace PinnedDualViewTests {

using Execution = Kokkos::DefaultExecutionSpace;
using Dual      = khs::PinnedDualView<int*>;
using Matrix    = khs::PinnedDualView<int**, Kokkos::LayoutRight>;

namespace {

constexpr int length = 1000;

template <class View>
struct CountUp {
  View view;
  KOKKOS_FUNCTION void operator()(int i) const { ++view(i); }
};

template <class D>
void count_up(D const& dual) {
  auto const view = dual.view_device();
  Kokkos::parallel_for("count_up", Kokkos::RangePolicy<Execution>(0, view.extent_int(0)),
                       CountUp<std::decay_t<decltype(view)>>{view});
  Kokkos::fence();
}

template <class View>
int wrong(View const& view, int offset, int first = 0) {
  int count = 0;
  for (int i = 0; i < view.extent_int(0); ++i) count += view(i) != first + i + offset;
  return count;
}

template <class View>
void fill(View const& view) {
  for (int i = 0; i < view.extent_int(0); ++i) view(i) = i;
}

template <class View>
bool is_pinned(View const& view) {
  auto const known = khs::pool::describe(view);
  return known && known->space == "Pinned" && known->state == khs::pool::State::in_use;
}

// Code that knows only Kokkos::DualView.
template <class... P>
void others_count_up(Kokkos::DualView<P...> dual) {
  dual.sync_device();
  count_up(dual);
  dual.modify_device();
}

}  // namespace

TEST_CASE("sync copies the modified side of a PinnedDualView to the other", "[dual_view]") {
  Dual dual("dual", length);
  static_assert(std::is_same_v<Dual::t_host::memory_space, khs::PinnedSpace>);
  static_assert(std::is_same_v<Dual::t_host_um::memory_space, khs::PinnedSpace>);
  static_assert(std::is_same_v<Dual::t_host_const_randomread_um::memory_space, khs::PinnedSpace>);
  static_assert(Dual::t_host_um::memory_traits::is_unmanaged);
  CHECK(Dual::shares_memory == Dual::impl_dualview_is_single_device);
  CHECK((dual.view_host().data() == dual.view_device().data()) == Dual::shares_memory);
  CHECK(is_pinned(dual.view_host()));
  CHECK(dual.view_host().label() == "dual");
  CHECK(dual.view_host()(length - 1) == 0);
  Execution const instance;
  fill(dual.view_host());
  dual.modify_host();
  CHECK(dual.need_sync_device() == !Dual::shares_memory);
  CHECK_FALSE(dual.need_sync_host());
  dual.sync_device(instance);
  CHECK_FALSE(dual.need_sync_device());
  instance.fence();
  count_up(dual);
  dual.modify_device();
  CHECK(dual.need_sync_host() == !Dual::shares_memory);
  dual.sync_host(instance);
  instance.fence();
  CHECK(wrong(dual.view_host(), 1) == 0);
  dual.modify<khs::PinnedSpace>();
  dual.sync<Execution>();
  count_up(dual);
  dual.modify<Execution>();
  CHECK(dual.need_sync<khs::PinnedSpace>() == !Dual::shares_memory);
  dual.sync<khs::PinnedSpace>(instance);
  instance.fence();
  CHECK(wrong(dual.view<khs::PinnedSpace>(), 2) == 0);
}

TEST_CASE("code that takes a Kokkos::DualView shares memory and flags of a PinnedDualView",
          "[dual_view]") {
  Dual dual("dual", length);
  fill(dual.view_host());
  dual.modify_host();
  others_count_up(dual);
  CHECK(dual.need_sync_host() == !Dual::shares_memory);
  dual.sync_host();
  CHECK(wrong(dual.view_host(), 1) == 0);
  khs::PinnedDualView<int const*> const reads = dual;
  CHECK(reads.view_host().data() == dual.view_host().data());
}

TEST_CASE("AllowPadding pads both sides, whichever was modified last or is made first",
          "[dual_view]") {
  khs::PinnedDualView<double**, Kokkos::LayoutLeft> dual("dual", 3, 4);
  auto const pads = [&](std::size_t extent) {
    return dual.view_host().stride(1) > extent &&
           dual.view_device().stride(1) == dual.view_host().stride(1);
  };
  dual.modify_host();
  dual.resize(Kokkos::view_alloc(Kokkos::AllowPadding), 1001, 10);
  CHECK(pads(1001));
  dual.sync_device();
  dual.resize(Kokkos::view_alloc(Kokkos::AllowPadding), 1003, 10);
  CHECK(pads(1003));
  dual.realloc(Kokkos::view_alloc(Kokkos::AllowPadding, Kokkos::SequentialHostInit), 1005, 10);
  CHECK(pads(1005));
}

TEST_CASE("a part of a PinnedDualView is synchronised alone, with gaps too", "[dual_view]") {
  Matrix whole("whole", 20, 10);
  Kokkos::deep_copy(whole.view_host(), 1);
  auto column = Kokkos::subview(whole, Kokkos::ALL, 3);
  static_assert(std::is_same_v<typename decltype(column)::t_host::memory_space, khs::PinnedSpace>);
  fill(column.view_host());
  column.modify_host();
  Execution const instance;
  column.sync_device(instance);
  instance.fence();
  CHECK_FALSE(whole.need_sync_device());
  count_up(column);
  column.modify_device();
  column.sync_host(instance);
  instance.fence();
  CHECK(wrong(column.view_host(), 1) == 0);
  CHECK(whole.view_host()(5, 2) == 1);
}

namespace {

// Calls the functions of a DualView, and records its observable state after each. The host side of a PinnedDualView must
// be pinned each time.
template <class D>
std::vector<std::size_t> story_of(D dual) {
  std::vector<std::size_t> seen;
  auto const note = [&] {
    if constexpr (std::is_same_v<D, Dual>)
      CHECK((is_pinned(dual.view_host()) || dual.extent(0) == 0));
    for (std::size_t const n :
         {std::size_t(dual.need_sync_host()), std::size_t(dual.need_sync_device()), dual.extent(0),
          dual.view_host().extent(0), dual.view_device().extent(0), dual.span(),
          std::size_t(dual.is_allocated()),
          dual.extent(0) > 0 ? std::size_t(dual.view_host()(0)) : 0})
      seen.push_back(n);
  };
  note();
  D const same = dual;
  dual.modify_host();
  note();
  dual.clear_sync_state();
  dual.modify_device();
  note();
  dual.template sync<Kokkos::DefaultHostExecutionSpace>();
  note();
  Kokkos::resize(dual, 20);
  note();
  if constexpr (std::is_same_v<D, Dual>)
    CHECK(dual.view_host().label() == same.view_host().label());
  dual.sync_host();
  dual.view_host()(0) = 7;
  dual.template modify<Kokkos::HostSpace>();
  dual.template sync<typename D::t_dev::memory_space>();
  note();
  Kokkos::resize(Kokkos::WithoutInitializing, dual, 10);
  dual.sync_host();
  note();
  Kokkos::realloc(dual, 10);
  dual.modify_device();
  dual.sync_host();
  note();
  Kokkos::realloc(dual, 30);
  note();
  Kokkos::realloc(Kokkos::WithoutInitializing, dual, 10);
  dual.view_host()(0) = 5;
  note();
  // The host makes the elements, and the device has them.
  dual.modify_host();
  dual.resize(Kokkos::view_alloc(Kokkos::SequentialHostInit), 12);
  dual.clear_sync_state();
  dual.modify_device();
  dual.sync_host();
  note();
  dual.realloc(Kokkos::view_alloc(Kokkos::SequentialHostInit), 11);
  dual.modify_device();
  dual.sync_host();
  note();
  if constexpr (std::is_same_v<D, Dual>)
    Kokkos::resize(Execution(), dual, 10);
  else
    Kokkos::resize(dual, 10);
  Kokkos::fence();
  note();
  dual.sync_host();
  D other("other", 10);
  other.view_host()(0) = 9;
  other.modify_host();
  Kokkos::deep_copy(dual, other);
  note();
  dual.sync_device();
  other.sync_device();
  Kokkos::deep_copy(Execution(), other, dual);
  other.sync_host();
  dual = other;
  note();
  dual.resize(0);
  note();
  dual = D();
  note();
  seen.push_back(same.need_sync_host());
  seen.push_back(same.extent(0));
  return seen;
}

// Takes any type that Kokkos::is_dual_view accepts.
template <class D>
requires Kokkos::is_dual_view_v<D> std::size_t others_take_any(D const& dual) {
  typename D::t_host_const const host  = dual.view_host();
  typename D::t_dev_const const device = dual.view_device();
  return host.size() + device.size();
}

template <class DataType, class... N>
void check_rank(N... extents) {
  using Any = khs::PinnedDualView<DataType, Kokkos::LayoutLeft>;
  Any dual("of any rank", extents...);
  Kokkos::deep_copy(dual.view_host(), 3);
  dual.modify_host();
  dual.sync_device(Execution());
  khs::PinnedDualView<typename Any::t_dev::const_data_type, Kokkos::LayoutLeft> const reads = dual;
  CHECK(reads.view_host().size() == dual.view_host().size());
  CHECK(others_take_any(dual) == 2 * dual.view_host().size());
  dual.realloc(extents...);
}

}  // namespace

TEST_CASE("call by call, a PinnedDualView has the state of a Kokkos::DualView", "[dual_view]") {
  CHECK(story_of(Dual("dual", 12)) == story_of(Kokkos::DualView<int*>("dual", 12)));
  CHECK(story_of(Dual()) == story_of(Kokkos::DualView<int*>()));
}

TEST_CASE("a PinnedDualView may have any rank, and is_dual_view is true", "[dual_view]") {
  check_rank<int>();
  check_rank<int*>(3);
  check_rank<int* [3]>(2);
  check_rank<int***>(2, 3, 4);
  check_rank<int********>(1, 2, 1, 2, 1, 2, 1, 2);
}

TEST_CASE("a PinnedDualView is made of two Views, and of a DualView", "[dual_view]") {
  Dual const first("first", length);
  Dual const of_views(first.view_device(), first.view_host());
  CHECK(of_views.view_host().data() == first.view_host().data());
  CHECK(of_views.view_device().data() == first.view_device().data());
  CHECK_THROWS(Dual(Dual::t_dev("device", 3), first.view_host()));

  Kokkos::DualView<int*> other("other", length);
  fill(other.view_host());
  other.modify_host();
  Dual copy(other);
  CHECK(is_pinned(copy.view_host()));
  CHECK(copy.view_device().label() == "other");
  copy.sync_device();
  count_up(copy);
  copy.modify_device();
  copy.sync_host();
  CHECK(wrong(copy.view_host(), 1) == 0);
  CHECK(wrong(other.view_host(), 0) == 0);
  CHECK_FALSE(Dual(Kokkos::DualView<int*>()).is_allocated());
}

// Until it is resized as a PinnedDualView, the host side of one that was resized as a DualView is pageable.
TEST_CASE(
    "resize and realloc after a resize as a DualView pin the host side, resize keeps contents",
    "[dual_view]") {
  bool const keeps = GENERATE(true, false);
  int const extent = GENERATE(length / 2, length, 2 * length, 3 * length);
  CAPTURE(keeps, extent);
  Dual dual("dual", length);
  Kokkos::DualView<int*>& as_others = dual;
  as_others.resize(2 * length);
  as_others.sync_host();
  fill(as_others.view_host());
  as_others.modify_host();
  CHECK_THROWS_AS(dual.view_host(), khs::Error);
  if (keeps)
    dual.resize(extent);
  else
    dual.realloc(extent);
  REQUIRE_NOTHROW(dual.view_host());
  CHECK(is_pinned(dual.view_host()));
  CHECK(dual.view_host().data() == dual.view<khs::PinnedSpace>().data());
  CHECK((dual.extent_int(0) == extent && dual.view_host().extent_int(0) == extent));
  CHECK(dual.view_device().extent_int(0) == extent);
  CHECK(dual.need_sync_device() == (keeps && !Dual::shares_memory));
  dual.sync_device();
  dual.modify_device();
  dual.sync_host();
  for (int i = 0; i < extent; i += extent / 10)
    CHECK(dual.view_host()(i) == (keeps && i < 2 * length ? i : 0));
}

TEST_CASE("a pinned mirror has the contents after a fence of its instance", "[mirrors]") {
  Execution const instance;
  Kokkos::View<int*, Execution> const view("view", length);
  Kokkos::deep_copy(view, 5);
  auto const copied = khs::create_pinned_mirror_view_and_copy(instance, view);
  auto const mirror = khs::create_pinned_mirror_view(instance, view);
  instance.fence();
  CHECK((is_pinned(copied) && is_pinned(mirror)));
  CHECK((mirror.extent(0) == length && copied(length - 1) == 5));
  for (auto const& same : {khs::create_pinned_mirror_view(instance, copied),
                           khs::create_pinned_mirror_view_and_copy(instance, copied)})
    CHECK(same.data() == copied.data());
}

}  // namespace PinnedDualViewTests
