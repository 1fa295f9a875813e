// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many copies by one call, in every build: which arguments it takes, and what it refuses. Contents:
// BatchEqualsMemmove.cpp. And how a copy is explained.

#include "../KokkosTest.hpp"

namespace DeepCopyAll {

using Left  = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;

using Execution   = Kokkos::DefaultExecutionSpace;
using DeviceSpace = Execution::memory_space;
using Host        = Kokkos::View<double*, khs::PinnedSpace>;
using Device      = Kokkos::View<double*, DeviceSpace>;
using Range       = std::pair<std::size_t, std::size_t>;

// Calls use(copy), where copy copies at once, and where it prepares before.
template <class Use>
void for_both_ways(Use const& use) {
  use([](auto const&... what) { khs::deep_copy_all(what...); });
  use([](auto const& instance, auto const&... what) {
    khs::deep_copy_all(instance, khs::prepare_deep_copy_all(instance, what...));
  });
}

TEST_CASE("ranges, and Views of several types, layouts and spaces, are copied and prepared",
          "[deep_copy]") {
  Host const a("a", 10), b("b", 10);
  Device const da("da", 10), db("db", 10);
  Kokkos::View<int**, Right, khs::MappedSpace> const rows("rows", 5, 7);
  Kokkos::View<int**, Left, DeviceSpace> const columns("columns", 5, 7);
  Kokkos::View<int**, Left, khs::PinnedSpace> const turned("turned", 5, 7);
  Kokkos::View<float*, Kokkos::HostSpace> const pageable("pageable", 20),
      pageable_back("pageable_back", 20);
  Kokkos::View<float*, khs::PinnedSpace> const floats("floats", 20);
  Kokkos::View<double, khs::PinnedSpace> const scalar("scalar"), scalar_back("scalar_back");
  Kokkos::View<double, DeviceSpace> const device_scalar("device_scalar");
  for (int i = 0; i < 10; ++i) {
    a(i) = i;
    b(i) = 100 + i;
  }
  for (int i = 0; i < 35; ++i) rows(i / 7, i % 7) = i;
  for (int i = 0; i < 20; ++i) pageable(i) = float(i);
  scalar()         = 3;
  auto const check = [&](auto const& instance, auto const& copy) {
    copy(instance, std::array{khs::copy_of(da, a), khs::copy_of(db, b)});
    copy(instance, khs::copy_of(columns, rows), khs::copy_of(floats, pageable),
         khs::copy_of(device_scalar, scalar));
    Kokkos::deep_copy(a, -1.);
    Kokkos::deep_copy(b, -1.);
    Kokkos::fence();
    copy(instance, khs::copy_of(a, da), khs::copy_of(turned, columns), khs::copy_of(b, db),
         khs::copy_of(pageable_back, floats), khs::copy_of(scalar_back, device_scalar));
    instance.fence();
    CHECK(a(9) == 9);
    CHECK(b(9) == 109);
    CHECK(turned(4, 6) == 34);
    CHECK(pageable_back(19) == 19);
    CHECK(scalar_back() == 3);
  };
  for_both_ways([&](auto const& copy) {
    check(Execution(), copy);
    check(Kokkos::DefaultHostExecutionSpace(), copy);
    copy(Execution(), std::vector<std::pair<Host, Device>>());
  });
}

// Other calls are refused with a sentence.
static_assert(!khs::Impl::Batch<> && !khs::Impl::Batch<Host>);
static_assert(khs::Impl::Batch<std::pair<Host, Device>>);
static_assert(!khs::Impl::Batch<std::vector<Host>, std::vector<Device>>);
static_assert(!khs::Impl::Batch<Host, Device>);

TEST_CASE("without an instance deep_copy_all blocks, and comes after the work of instances",
          "[deep_copy]") {
  Host const a("a", 20), back("back", 20);
  Device const device("device", 20);
  for (int round = 1; round < 4; ++round) {
    for (int i = 0; i < 20; ++i) a(i) = round * i;
    Execution const instance;
    auto const there = khs::copy_of(device, a);
    if (round == 1) khs::deep_copy_all(instance, there);
    if (round == 2) khs::deep_copy_all(there);
    if (round == 3) khs::deep_copy_all(instance, khs::prepare_deep_copy_all(instance, there));
    if (round < 3)
      khs::deep_copy_all(back, device, std::vector<khs::Slice>{{0, 0, 5}, {5, 5, 15}});
    else
      khs::deep_copy_all(khs::prepare_deep_copy_all(instance, khs::copy_of(back, device)));
    CHECK((back(9) == 9 * round && back(19) == 19 * round));
  }
}

TEST_CASE("what is wrong with one of many copies is told before any is made", "[deep_copy]") {
  Host const a("alpha", 10), b("beta", 10), c("gamma", 11);
  Kokkos::deep_copy(a, 1.);
  Execution const instance;
  auto const part = [](Host const& view, std::size_t begin, std::size_t end) {
    return Kokkos::subview(view, Range(begin, end));
  };
  for_both_ways([&](auto const& copy) {
    CHECK_THROWS_WITH(copy(instance, khs::copy_of(b, a), khs::copy_of(b, c)),
                      ContainsSubstring("gamma") && ContainsSubstring("(11)"));
    CHECK_THROWS_WITH(copy(instance, khs::copy_of(part(b, 0, 6), part(a, 0, 6)),
                           khs::copy_of(part(b, 5, 10), part(a, 0, 5))),
                      ContainsSubstring("beta") && ContainsSubstring("48 bytes") &&
                          ContainsSubstring("make two calls"));
    CHECK_THROWS_AS(copy(instance, khs::copy_of(part(b, 0, 5), part(a, 0, 5)),
                         khs::copy_of(part(c, 0, 5), part(b, 4, 9))),
                    khs::Error);
  });
  instance.fence();
  for (int i = 0; i < 10; ++i) CHECK(b(i) == 0);
}

TEST_CASE("of copies in conflict the right ones are named, also among neighbours that are merged",
          "[deep_copy]") {
  Device const a("alpha", 10), b("beta", 10);
  auto const part = [](Device const& view, std::size_t begin, std::size_t end) {
    return Kokkos::subview(view, Range(begin, end));
  };
  Execution const instance;
  CHECK_THROWS_WITH(khs::deep_copy_all(instance, khs::copy_of(part(b, 0, 4), part(a, 0, 4)),
                                       khs::copy_of(part(b, 4, 10), part(a, 4, 10)),
                                       khs::copy_of(part(b, 8, 9), part(a, 0, 1))),
                    ContainsSubstring("of 48 bytes writes what") &&
                        ContainsSubstring("of 8 bytes reads or writes"));
  CHECK_THROWS_WITH(khs::deep_copy_all(instance, khs::copy_of(part(b, 0, 2), part(b, 6, 8)),
                                       khs::copy_of(part(b, 4, 9), part(a, 0, 5))),
                    ContainsSubstring("of 40 bytes writes what") &&
                        ContainsSubstring("of 16 bytes reads or writes"));
  khs::deep_copy_all(instance, khs::copy_of(part(b, 0, 4), part(a, 0, 4)),
                     khs::copy_of(part(b, 4, 10), part(a, 4, 10)));
  instance.fence();
}

// Kokkos does not call them contiguous, but each is one piece.
TEST_CASE("a part of a column is left out if it copies itself, and refused if it overlaps itself",
          "[deep_copy]") {
  Kokkos::View<int**, Left, khs::PinnedSpace> const a("alpha", 10, 10), b("beta", 10, 10);
  Kokkos::deep_copy(a, 3);
  auto const part = [](auto const& view, std::size_t begin) {
    return Kokkos::subview(view, Range(begin, begin + 5), Range(0, 1));
  };
  Execution const instance;
  khs::deep_copy_all(instance, khs::copy_of(part(a, 0), part(a, 0)),
                     khs::copy_of(part(b, 0), part(a, 0)));
  khs::deep_copy_all(instance,
                     khs::prepare_deep_copy_all(instance, khs::copy_of(part(a, 0), part(a, 0))));
  instance.fence();
  CHECK((a(4, 0) == 3 && b(4, 0) == 3 && b(5, 0) == 0));
  CHECK_THROWS_WITH(
      khs::deep_copy_all(instance, khs::copy_of(part(a, 0), part(a, 2))),
      ContainsSubstring("copy \"alpha\" (5,1)") && ContainsSubstring("writes what it reads"));
}

TEST_CASE("a copy is explained: how, how much, whether it waits, or why not", "[deep_copy]") {
  Kokkos::View<double**, Right, khs::PinnedSpace> const host("host", 100, 200);
  Kokkos::View<double**, Right, DeviceSpace> const device("device", 100, 200);
  Kokkos::View<double**, Left, DeviceSpace> const turned("turned", 100, 200);
  Kokkos::View<double**, Right, Kokkos::HostSpace> const pageable("pageable", 100, 200);
  std::string const whole = khs::explain(device, host);
  CHECK_THAT(whole, ContainsSubstring("\"device\" (100,200) in ") &&
                        ContainsSubstring("\"host\" (100,200) in Pinned, 160000 bytes: ") &&
                        ContainsSubstring("one memcpy"));
  CHECK_THAT(khs::explain(device, host), !ContainsSubstring("refused"));
  CHECK_THAT(khs::explain(Kokkos::subview(device, Range(0, 9), Kokkos::ALL), host),
             ContainsSubstring("refused") && ContainsSubstring("match"));
  CHECK_THAT(khs::explain(host, host), ContainsSubstring("nothing to do"));
  CHECK_THAT(khs::explain(Kokkos::DefaultHostExecutionSpace(), device, host),
             ContainsSubstring("done on return"));
#ifdef KOKKOS_ENABLE_CUDA
  auto const part = [](auto const& view) {
    return Kokkos::subview(view, Kokkos::ALL, Range(0, 50));
  };
  CHECK_THAT(whole, ContainsSubstring("asynchronous on the instance"));
  CHECK_THAT(khs::explain(part(host), part(device)),
             ContainsSubstring("one 2-D memcpy, 100 rows of 400 bytes"));
  CHECK_THAT(khs::explain(host, turned), ContainsSubstring("tile by tile"));
  CHECK_THAT(khs::explain(host, pageable), ContainsSubstring("not asynchronous") &&
                                               ContainsSubstring("put \"pageable\" into Pinned"));
  CHECK_THAT(
      khs::explain(Kokkos::subview(device, Kokkos::ALL, 3), Kokkos::subview(host, Kokkos::ALL, 3)),
      ContainsSubstring("element by element") && ContainsSubstring("runs of 8 bytes"));
#else
  CHECK_THAT(khs::explain(host, turned), ContainsSubstring("element by element"));
  CHECK_THAT(khs::explain(host, pageable), ContainsSubstring("by the host"));
#endif
}

TEST_CASE("a copy's explanation names the reason that holds", "[deep_copy]") {
  khs::Impl::ExplainedCopy copy;
  copy.is_ours = copy.by_device_instance = true;
  copy.sides                             = {.same_type                = true,
                                            .pageable_source          = false,
                                            .pageable_destination     = false,
                                            .both_page_locked         = false,
                                            .device_reads_host_memory = false};
  // Every row 3 times: two calls would do, if rows of the source did not share memory.
  std::size_t const extents[] = {2, 3, 100, 10}, to[] = {3000, 1000, 10, 1},
                    from[] = {5000, 0, 50, 1};
  copy.plan                = khs::Impl::make_copy_plan(8, 4, extents, to, from);
  REQUIRE(copy.plan.engine_calls() == 6);
  CHECK_THAT(khs::Impl::explain(copy),
             ContainsSubstring("element by element") && ContainsSubstring("share memory"));

  // Of runs that lie dense in staging memory what follows is one memcpy, no kernel.
  copy.sides.pageable_source = true;
  std::size_t const turned[] = {1, 2, 6, 600}, dense[] = {3000, 1000, 10, 1};
  copy.plan = khs::Impl::make_copy_plan(8, 4, extents, dense, turned);
  CHECK_THAT(khs::Impl::explain(copy),
             ContainsSubstring("page-locked memory") && !ContainsSubstring("kernel"));

  // A matrix that is turned on its way to a device.
  copy.sides.pageable_source          = false;
  copy.sides.device_reads_host_memory = true;
  std::size_t const square[] = {2000, 2000}, rows[] = {2000, 1}, columns[] = {1, 2000};
  copy.plan = khs::Impl::make_copy_plan(8, 2, square, rows, columns);
  CHECK_THAT(khs::Impl::explain(copy),
             ContainsSubstring("tile by tile") && ContainsSubstring("through the mapped address"));
}

// --- copies that are planned once and made often ---

using Ints     = Kokkos::View<int*, khs::PinnedSpace>;
using OnDevice = Kokkos::View<int*, DeviceSpace>;

TEST_CASE("prepared copies hold their Views, and may go while they are made", "[deep_copy]") {
  Execution const instance;
  Ints const back("back", 100 * 50);
  std::vector<Ints> backs;
  for (std::size_t k = 0; k < 100; ++k)
    backs.push_back(Kokkos::subview(back, Range(50 * k, 50 * k + 40)));
  khs::PreparedCopies<Execution> there, from_device;
  khs::deep_copy_all(instance, there);  // nothing
  {
    std::vector<std::pair<OnDevice, Ints>> to_device;
    std::vector<std::pair<Ints, OnDevice>> to_host;
    for (std::size_t k = 0; k < 100; ++k) {
      Ints const source("source", 40);
      for (std::size_t i = 0; i < 40; ++i) source(i) = int(1000 * k + i);
      to_device.emplace_back(OnDevice("device", 40), source);
      to_host.emplace_back(backs[k], to_device[k].first);
    }
    there       = khs::prepare_deep_copy_all(instance, to_device);
    from_device = khs::prepare_deep_copy_all(instance, to_host);
  }
  std::vector<Ints> others;
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

}  // namespace DeepCopyAll
