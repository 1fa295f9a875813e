// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Every public member of a Kokkos::DualView of 5.0, and its free functions, in the order of Kokkos' header: for a
// PinnedDualView as for a DualView.

#include "../KokkosTest.hpp"

#include <Kokkos_DualView.hpp>

namespace DualViewMembers {

using Execution = Kokkos::DefaultExecutionSpace;
using Memory    = Execution::memory_space;
using Host      = Kokkos::DefaultHostExecutionSpace;

namespace {

template <class D>
void use_types() {
  static_assert(std::is_same_v<typename D::traits::data_type, int**>);
  static_assert(std::is_same_v<typename D::traits::execution_space, typename D::execution_space>);
  static_assert(std::is_same_v<typename D::data_type, typename D::t_dev::data_type>);
  static_assert(
      std::is_same_v<typename D::host_mirror_space, typename D::traits::host_mirror_space>);
  static_assert(std::is_same_v<typename D::value_type, int>);
  static_assert(Kokkos::is_dual_view_v<D>);
  static_assert(D::impl_dualview_is_single_device ==
                Kokkos::SpaceAccessibility<Host, Memory>::accessible);
  D const dual("types", 2, 3);
  typename D::t_dev const device                               = dual.view_device();
  typename D::t_host const host                                = dual.view_host();
  typename D::t_dev_const const device_const                   = device;
  typename D::t_host_const const host_const                    = host;
  typename D::t_dev_const_randomread const device_random       = device;
  typename D::t_host_const_randomread const host_random        = host;
  typename D::t_dev_um const device_um                         = device;
  typename D::t_host_um const host_um                          = host;
  typename D::t_dev_const_um const device_const_um             = device;
  typename D::t_host_const_um const host_const_um              = host;
  typename D::t_dev_const_randomread_um const device_um_random = host;  // so in Kokkos 5.0
  typename D::t_host_const_randomread_um const host_um_random  = host;
  CHECK(device_const.size() + device_random.size() + device_um.size() + device_const_um.size() +
            device_um_random.size() ==
        30);
  CHECK(host_const.size() + host_random.size() + host_um.size() + host_const_um.size() +
            host_um_random.size() ==
        30);
}

// PinnedDualView and DualView have template parameters of their own.
template <class D, class Of>
struct Rebind;
template <template <class...> class Dual, class... P, class Of>
struct Rebind<Dual<P...>, Of> {
  using type = Dual<Of>;
};

template <class D>
D braced(std::size_t n0, std::size_t n1) {
  return {"braced", n0, n1};
}

template <class D>
void construct() {
  D const none;
  CHECK_FALSE(none.is_allocated());
  D const labelled("labelled", 2, 3), with_sizes("with sizes", std::size_t(2), 3u);
  D const properties(Kokkos::view_alloc("properties", Kokkos::WithoutInitializing), 2, 3);
  D const on_instance(Kokkos::view_alloc(Execution(), "on an instance"), 2, 3);
  D const host_first(Kokkos::view_alloc("host first", Kokkos::SequentialHostInit), 2, 3);
  typename Rebind<D, int const**>::type const reads = labelled;
  D const copy(labelled), row(labelled, std::pair(0, 1), Kokkos::ALL);
  D const of_views(labelled.view_device(), labelled.view_host());
  D assigned;
  assigned = labelled;
  CHECK(braced<D>(2, 3).is_allocated());
  CHECK(reads.view_host().data() == labelled.view_host().data());
  CHECK((row.extent(0) == 1 && of_views.extent(1) == 3 && assigned.is_allocated()));
}

template <class D>
void synchronise() {
  using Device = typename D::t_dev::device_type;
  D dual("dual", 2, 3);
  CHECK(dual.template view<Execution>().data() == dual.view_device().data());
  CHECK(dual.template view<Memory>().data() == dual.view_device().data());
  CHECK(dual.template view<Device>().data() == dual.view_device().data());
  CHECK(dual.template view<typename D::t_host::memory_space>().data() == dual.view_host().data());
  CHECK(dual.template view<typename D::t_host::device_type>().data() == dual.view_host().data());
  CHECK(dual.template view<Host>().data() == dual.view_host().data());
  CHECK((D::template get_device_side<Memory>() == 1 || D::impl_dualview_is_single_device));
  CHECK(D::view_header_size == 128);
  for (int i = 0; i < 2; ++i) {
    dual.template modify<Host>();
    dual.template sync<Memory>();
    dual.template modify<Memory>();
    dual.template sync<Host>(Execution());
    dual.modify_host();
    dual.sync_device();
    dual.modify_device();
    dual.sync_host();
    dual.modify_host();
    dual.sync_device(Execution());
    dual.modify_device();
    dual.sync_host(Execution());
    Kokkos::fence();
  }
  CHECK_FALSE((dual.template need_sync<Host>() || dual.template need_sync<Memory>()));
  CHECK_FALSE((dual.need_sync_host() || dual.need_sync_device()));
  dual.modify_host();
  dual.clear_sync_state();
  CHECK_FALSE(dual.need_sync_device());
}

template <class D>
void change_extents() {
  D dual("dual", 2, 3);
  dual.realloc(3, 4);
  dual.realloc(Kokkos::view_alloc(Kokkos::WithoutInitializing), 4, 5);
  dual.realloc(Kokkos::WithoutInitializing, 5, 6);
  dual.realloc(Kokkos::view_alloc(Execution()), 6, 7);
  CHECK(dual.extent(0) == 6);
  dual.resize(3, 4);
  dual.resize(Kokkos::view_alloc(Kokkos::WithoutInitializing), 4, 5);
  dual.resize(Kokkos::WithoutInitializing, 5, 6);
  dual.resize(Kokkos::view_alloc(Execution()), 6, 7);
  Kokkos::fence();
  CHECK(dual.view_host().extent(1) == 7);
  std::size_t strides[3] = {};
  dual.stride(strides);
  CHECK(strides[0] * strides[1] > 0);
  CHECK((dual.span() == 42 && dual.span_is_contiguous()));
  CHECK((dual.extent(1) == 7 && dual.extent_int(0) == 6));
}

template <class D>
void call_free_functions() {
  D dual("dual", 2, 3), other("other", 2, 3);
  auto const row = Kokkos::subview(dual, 1, Kokkos::ALL);
  static_assert(Kokkos::is_dual_view_v<std::decay_t<decltype(row)>>);
  CHECK((row.extent(0) == 3 && row.view_host().data() == &dual.view_host()(1, 0)));
  Kokkos::deep_copy(dual, other);
  Kokkos::deep_copy(Execution(), dual, other);
  Kokkos::resize(dual, 3, 4);
  Kokkos::resize(Kokkos::view_alloc(Kokkos::WithoutInitializing), dual, 4, 5);
  Kokkos::resize(Kokkos::WithoutInitializing, dual, 5, 6);
  Kokkos::realloc(Kokkos::view_alloc(Kokkos::WithoutInitializing), dual, 3, 4);
  Kokkos::realloc(dual, 4, 5);
  Kokkos::realloc(Kokkos::WithoutInitializing, dual, 5, 6);
  CHECK(dual.view_device().extent(1) == 6);
}

struct InKernel {
  khs::PinnedDualView<int**> dual;
  KOKKOS_FUNCTION void operator()(int) const {
    std::size_t strides[3];
    dual.view_device().stride(strides);
    dual.view<Memory>()(0, 0) = dual.is_allocated() && dual.span() == 6 &&
                                dual.span_is_contiguous() && dual.extent(0) == 2 &&
                                dual.extent_int(1) == 3 && dual.view_host().extent(0) == 2;
  }
};

template <class D>
void use_all() {
  use_types<D>();
  construct<D>();
  synchronise<D>();
  change_extents<D>();
  call_free_functions<D>();
}

}  // namespace

TEST_CASE("a PinnedDualView has all members and functions of a Kokkos::DualView", "[dual_view]") {
  use_all<Kokkos::DualView<int**>>();
  use_all<khs::PinnedDualView<int**>>();
  khs::PinnedDualView<int**> dual("dual", 2, 3);
  Kokkos::parallel_for("members", Kokkos::RangePolicy<Execution>(0, 1), InKernel{dual});
  dual.modify_device();
  dual.sync_host();
  CHECK(dual.view_host()(0, 0) == 1);
}

}  // namespace DualViewMembers
