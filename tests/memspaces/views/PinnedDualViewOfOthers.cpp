// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A PinnedDualView that was resized as a Kokkos::DualView: its host side is pageable until the
// PinnedDualView is resized, which keeps the contents.

#include <KokkosHostSpaces.hpp>

#include <Kokkos_DualView.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace khs = KokkosHostSpaces;

namespace PinnedDualViewOfOthers {

namespace {

using Dual = khs::PinnedDualView<int*>;

constexpr int length = 100;

void others_resize(Kokkos::DualView<int*>& dual, int extent) {
  dual.resize(extent);
  dual.sync_host();
  for (int i = 0; i < extent; ++i) dual.view_host()(i) = 7 * i;
  dual.modify_host();
}

bool is_pinned(Dual const& dual) {
  auto const known = khs::pool::describe(dual.view_host());
  return known && known->space == "Pinned" &&
         dual.view_host().data() == dual.view<khs::PinnedSpace>().data();
}

int wrong(Dual const& dual, int extent) {
  int count = 0;
  for (int i = 0; i < extent; ++i) count += dual.view_host()(i) != 7 * i;
  return count;
}

}  // namespace

TEST_CASE("resize after a resize as a DualView pins the host side and keeps its contents",
          "[dual_view]") {
  for (int const extent : {length / 2, length, 2 * length, 3 * length}) {
    INFO("extent " << extent);
    Dual dual("dual", length);
    others_resize(dual, 2 * length);
    CHECK_THROWS_AS(dual.view_host(), khs::Error);
    dual.resize(extent);
    REQUIRE_NOTHROW(dual.view_host());
    CHECK(is_pinned(dual));
    CHECK((dual.extent_int(0) == extent && dual.view_host().extent_int(0) == extent));
    CHECK(wrong(dual, std::min(extent, 2 * length)) == 0);
    CHECK(dual.need_sync_device() == !Dual::shares_memory);
    dual.sync_device();
    dual.modify_device();
    dual.sync_host();
    CHECK(wrong(dual, std::min(extent, 2 * length)) == 0);
  }
}

TEST_CASE("realloc after a resize as a DualView gives pinned zeros", "[dual_view]") {
  for (int const extent : {length, 2 * length, 3 * length}) {
    INFO("extent " << extent);
    Dual dual("dual", length);
    others_resize(dual, 2 * length);
    dual.realloc(extent);
    REQUIRE_NOTHROW(dual.view_host());
    CHECK(is_pinned(dual));
    CHECK((dual.extent_int(0) == extent && dual.view_device().extent_int(0) == extent));
    CHECK_FALSE(dual.need_sync_device());
    dual.modify_device();
    dual.sync_host();
    CHECK(dual.view_host()(extent - 1) == 0);
  }
}

}  // namespace PinnedDualViewOfOthers
