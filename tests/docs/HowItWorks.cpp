// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The code of HowItWorks.md, Copies.md and Graphs.md in memspaces/docs, run and checked. The pages hold copies
// of lines from here.

#include <KokkosHostSpaces.hpp>

#include <Kokkos_Graph.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

namespace khs = KokkosHostSpaces;

namespace HowItWorks {

namespace {

constexpr int n = 100000;

struct AddOne {
  Kokkos::View<double*> view;
  KOKKOS_FUNCTION void operator()(int i) const { view(i) += 1; }
};

}  // namespace

TEST_CASE("memory is given back while a kernel may still use it", "[docs]") {
  Kokkos::DefaultExecutionSpace instance;
  Kokkos::View<double*> device("device", n);
  {
    Kokkos::View<double*, khs::PinnedSpace> buffer("buffer", n);
    for (int i = 0; i < n; ++i) buffer(i) = i;
    Kokkos::deep_copy(instance, device, buffer);
  }  // the copy may still run: the memory is retired, and nobody waits
  Kokkos::View<double*, khs::PinnedSpace> next("next", n);  // never the memory of that copy
  for (int i = 0; i < n; ++i) next(i) = -1;
  instance.fence();
  auto const copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  CHECK(copied(n - 1) == n - 1);
  CHECK(next(0) == -1);
}

TEST_CASE("memory that waits for one instance", "[docs]") {
  Kokkos::DefaultExecutionSpace instance;
  Kokkos::View<double*> device("device", n);
  Kokkos::View<double*, khs::PinnedSpace> buffer("buffer", n);
  Kokkos::deep_copy(buffer, 1.0);
  Kokkos::deep_copy(instance, device, buffer);
  khs::pool::retire_on(instance, std::move(buffer));  // waits for this copy alone
  Kokkos::View<double*, khs::PinnedSpace> next("next", n);
  Kokkos::deep_copy(next, 2.0);
  instance.fence();
  CHECK(buffer.data() == nullptr);
  CHECK(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device)(n - 1) == 1);
}

TEST_CASE("copies are nodes of a graph", "[docs]") {
  Kokkos::DefaultExecutionSpace instance;
  Kokkos::View<double*> device("device", n);
  Kokkos::View<double*, khs::PinnedSpace> input("input", n), output("output", n);
  for (int i = 0; i < n; ++i) input(i) = i;
  khs::retain_for_graph(instance, input, output);
  Kokkos::Experimental::Graph<Kokkos::DefaultExecutionSpace> graph({instance});
  auto there = khs::then_deep_copy(graph.root_node(), device, input);
  auto added = there.then_parallel_for("add", n, AddOne{device});
  khs::then_deep_copy(added, output, device);
  graph.instantiate();
  graph.submit(instance);
  instance.fence();
  CHECK(output(n - 1) == n);
}

TEST_CASE("a View that is zero in memory that was used", "[docs]") {
  {
    Kokkos::View<double*, khs::PinnedSpace> const before("before", n);
    for (int i = 0; i < n; ++i) before(i) = i;
  }
  Kokkos::fence();
  Kokkos::View<double*, khs::PinnedSpace> sums("sums", n);  // zeros, whoever had the memory before
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, sums(i));
  CHECK(largest == 0);
}

TEST_CASE("memory of others that children shall not have", "[docs]") {
  std::size_t const bytes = std::size_t(1) << 20;
  void* const pages       = std::aligned_alloc(1 << 16, bytes);
  {
    khs::Registration shared(pages, bytes, "pages", khs::AtFork::leave_out);  // whole pages only
    CHECK(shared.bytes() == bytes);
  }
  std::free(pages);
}

TEST_CASE("what the pool holds", "[docs]") {
  Kokkos::View<double*, khs::PinnedSpace> buffer("buffer", n);
  std::cout << khs::pool::to_text(khs::pool::statistics());
  auto owner = khs::pool::describe(buffer);  // owner->label is "buffer"
  REQUIRE(owner.has_value());
  CHECK(owner->label == "buffer");
}

TEST_CASE("memory before it is needed, and given back", "[docs]") {
  auto reservation = khs::pool::reserve(std::size_t(64) << 20);  // page-locked in the background
  reservation.wait();                                            // not needed: allocate meanwhile
  khs::pool::set_limit(std::size_t(8) << 30);
  std::size_t returned = khs::pool::trim(0);
  CHECK(returned >= std::size_t(64) << 20);
  khs::pool::set_limit(0);
}

TEST_CASE("strided copies on an instance", "[docs]") {
  Kokkos::View<double**, Kokkos::LayoutRight> device("device", 100, 100);
  Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace> host("host", 100, 100);
  for (int i = 0; i < 100; ++i) host(i, 7) = i;

  Kokkos::DefaultExecutionSpace instance;
  auto column = Kokkos::subview(host, Kokkos::ALL, 7);  // every 100th element
  Kokkos::deep_copy(instance, Kokkos::subview(device, Kokkos::ALL, 7), column);
  instance.fence();
  auto const copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  CHECK(copied(99, 7) == 99);
  CHECK(copied(99, 6) == 0);
}

TEST_CASE("copies explained, and many at once", "[docs]") {
  Kokkos::View<double**, Kokkos::LayoutRight> device("device", 10, 100);
  Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace> host("host", 10, 100);
  Kokkos::DefaultExecutionSpace instance;
  std::cout << khs::explain(instance, device, host) << '\n';

  using Part       = std::pair<int, int>;
  using DevicePart = decltype(Kokkos::subview(device, 0, Part(0, 1)));
  using HostPart   = decltype(Kokkos::subview(host, 0, Part(0, 1)));
  std::vector<std::pair<DevicePart, HostPart>> parts;
  for (int i = 0; i < 10; ++i) {
    host(i, 3) = i + 1;
    parts.emplace_back(Kokkos::subview(device, i, Part(0, 4)),
                       Kokkos::subview(host, i, Part(0, 4)));
  }
  khs::deep_copy_all(instance, parts);  // std::vector, std::array, ... of std::pair
  instance.fence();
  auto const copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  CHECK(copied(9, 3) == 10);

  Kokkos::View<int*> field("field", 200);
  Kokkos::View<int*, khs::PinnedSpace> packed("packed", 100);
  std::size_t const rows[] = {7, 2, 3, 0, 9};
  Kokkos::deep_copy(Kokkos::subview(field, Part(140, 160)), 5);
  Kokkos::deep_copy(Kokkos::subview(field, Part(180, 200)), 6);
  std::vector<khs::Slice> slices;  // {dst, src, count}, in elements
  for (std::size_t k = 0; k < 5; ++k) slices.push_back({20 * k, 20 * rows[k], 20});
  khs::deep_copy_all(instance, packed, field, slices);
  instance.fence();
  CHECK((packed(0) == 5 && packed(19) == 5 && packed(20) == 0 && packed(99) == 6));
  host(9, 3)       = 11;
  int const steps  = 3;
  auto const halos = khs::prepare_deep_copy_all(instance, parts);
  for (int step = 0; step < steps; ++step) khs::deep_copy_all(instance, halos);
  instance.fence();
  CHECK(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device)(9, 3) == 11);
  Kokkos::View<int*> device_counts("device_counts", 5);
  Kokkos::View<int*, khs::PinnedSpace> counts("counts", 5);
  Kokkos::deep_copy(counts, 7);
  khs::deep_copy_all(instance, khs::copy_of(device, host), khs::copy_of(device_counts, counts));
  instance.fence();
  CHECK(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device_counts)(4) == 7);

  Kokkos::View<int*, khs::PinnedSpace> big("big", field.size());
  Kokkos::deep_copy(big, 8);
  khs::MultiPath const paths(instance);
  khs::deep_copy(paths, field, big);
  std::cout << paths.explain() << '\n';
  instance.fence();
  CHECK(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field)(199) == 8);
}

}  // namespace HowItWorks
