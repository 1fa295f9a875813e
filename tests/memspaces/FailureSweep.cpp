// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Whichever call to CUDA or the system fails, or which allocation of host memory: what users call throws
// what it promises, leaves nothing behind and works again. Kokkos runs on the host, the backend is that of
// CUDA on the fake runtime.

#include "../backend/CapturedStderr.hpp"
#include "../backend/FailureSweep.hpp"
#include "Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <Kokkos_Graph.hpp>

namespace khs = KokkosHostSpaces;

using namespace FailureSweep;

namespace {

using Execution = Kokkos::DefaultExecutionSpace;
using Pinned    = Kokkos::View<double*, khs::PinnedSpace>;
using Pageable  = Kokkos::View<double*, Kokkos::HostSpace>;
using In        = khs::Chunk<double const*>;
using Out       = khs::Chunk<double*>;

constexpr int n = 1000;
constexpr Beside makes_views{.fails_memory = false};

// All calls fail where the environment asks for many cases.
template <class Run>
void sweep(std::string const& name, Run run, Beside beside = {}) {
  beside.step = rounds(0) > 0 ? 1 : 4;
  Sweep(name, run, beside);
}

// A View whose allocation does not fail. Labels fit into a short string: the destructor of Kokkos' records copies
// them. Views in HostSpace must outlive the operation: their destructors allocate.
template <class View = Pinned>
View made(char const* label) {
  FailNth::Exempt const of_test;
  return View(label, n);
}

template <class View = Pinned>
View counted(char const* label) {
  View const view = made<View>(label);
  for (int i = 0; i < n; ++i) view(i) = i;
  return view;
}

template <class View>
void expect_multiples(View const& view, double factor) {
  for (int i = 0; i < n; ++i) expect(view(i) == factor * i, "the contents are wrong");
}

struct Twice {
  KOKKOS_FUNCTION double operator()(double a) const { return 2 * a; }
};

}  // namespace

TEMPLATE_TEST_CASE("whichever call fails: memory of a space", "[failures]", khs::PinnedSpace,
                   khs::MappedSpace, khs::WriteCombinedSpace) {
  using View             = Kokkos::View<double*, TestType>;
  std::string const name = TestType::name();
  sweep(
      "a View in " + name, [](Setting&) { View("label", n)(0) = 1; }, makes_views);
  sweep(
      "kokkos_malloc in " + name,
      [](Setting&) {
        struct Memory {
          void* begin = Kokkos::kokkos_malloc<TestType>("label", n);
          ~Memory() { Kokkos::kokkos_free<TestType>(begin); }
        } memory;
        memory.begin = Kokkos::kokkos_realloc<TestType>(memory.begin, 2 * MiB);
      },
      makes_views);
  sweep(
      "a View that grows in " + name,
      [](Setting&) {
        View view = counted<View>("grows");
        Kokkos::resize(view, 2 * n);
        Kokkos::realloc(view, 3 * n);
      },
      makes_views);
}

TEST_CASE("whichever call fails: memory in other ways", "[failures]") {
  sweep("a vector with an allocator",
        [](Setting&) { std::vector<int, khs::Allocator<int>>(n).resize(2 * n); });
  sweep(
      "a mirror",
      [](Setting&) {
        auto const view = counted<Pageable>("view");
        expect_multiples(Kokkos::create_mirror_view_and_copy(khs::PinnedSpace(), view), 1);
        khs::create_pinned_mirror_view(Execution(), view);
      },
      makes_views);
  sweep("a View for devices", [](Setting&) {
    expect_multiples(khs::device_view(Execution(), counted("view")), 1);
    khs::mapped_view(counted("view"));
  });
  sweep("a Registration", [](Setting& setting) {
    khs::Registration const registration(setting.foreign_pages(), page_bytes(),
                                         "a label that does not fit into a short string");
  });
  sweep("a reservation", [](Setting&) { khs::pool::reserve(5 * MiB).wait(); });
  CapturedStderr const said;
  sweep("a Registration whose memory the application unlocks", [](Setting& setting) {
    khs::Registration const registration(setting.foreign_pages(), page_bytes(), "label");
    FailNth::Exempt const of_test;
    // Fails if the page was not locked, since the question for devices had failed.
    if (cudaHostUnregister(registration.data()) != cudaSuccess) cudaGetLastError();
  });
}

TEST_CASE("whichever call fails: deep_copy", "[failures]") {
  Pageable const from = counted<Pageable>("from"), back = made<Pageable>("back");
  sweep("contiguous", [&](Setting&) {
    Pinned const there = made("there");
    Kokkos::deep_copy(there, from);
    Kokkos::deep_copy(Execution(), back, there);
    expect_multiples(back, 1);
  });
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const host("host", 70, 80);
  for (int i = 0; i < 70; ++i)
    for (int j = 0; j < 80; ++j) host(i, j) = 100 * i + j;
  sweep("of other layouts, strides and types", [&](Setting&) {
    std::optional<FailNth::Exempt> of_test(std::in_place);
    Kokkos::View<double**, Kokkos::LayoutLeft, khs::PinnedSpace> const left("left", 70, 80);
    Kokkos::View<float**, Kokkos::LayoutRight, khs::MappedSpace> const right("right", 70, 80);
    of_test.reset();
    Kokkos::deep_copy(left, host);
    Kokkos::deep_copy(Execution(), right, left);
    Kokkos::deep_copy(Execution(), Kokkos::subview(left, std::pair(0, 35), Kokkos::ALL),
                      Kokkos::subview(right, std::pair(35, 70), Kokkos::ALL));
    expect(left(34, 79) == 6979 && left(69, 79) == 6979, "the contents are wrong");
  });
  sweep("of a value", [](Setting&) {
    Pinned const view = made("view");
    Kokkos::deep_copy(view, 3.0);
    Kokkos::deep_copy(Execution(), view, 4.0);
    expect(view(n - 1) == 4, "the contents are wrong");
  });
  sweep("that is explained", [&](Setting&) { khs::explain(counted("dst"), from); });
}

TEST_CASE("whichever call fails: batches", "[failures]") {
  Execution const instance;
  Pageable const to_a = made<Pageable>("to_a"), to_b = made<Pageable>("to_b");
  sweep("deep_copy_all", [&](Setting&) {
    Pinned const a = counted("a"), b = counted("b");
    khs::deep_copy_all(instance, std::array{khs::copy_of(to_a, a), khs::copy_of(to_b, b)});
    khs::deep_copy_all(instance, to_a, b, std::array<khs::Slice, 2>{{{0, 0, 10}, {20, 20, 30}}});
    instance.fence();
    expect_multiples(to_b, 1);
  });
  sweep("prepared copies", [&](Setting&) {
    Pinned const a = counted("a"), b = counted("b");
    auto const copies =
        khs::prepare_deep_copy_all(instance, khs::copy_of(to_a, a), khs::copy_of(to_b, b));
    for (int i = 0; i < 2; ++i) khs::deep_copy_all(instance, copies);
    instance.fence();
    expect_multiples(to_b, 1);
  });
  sweep("copies in a graph", [&](Setting&) {
    Pinned const a = counted("a");
    auto graph     = Kokkos::Experimental::create_graph<Execution>(
        [&](auto root) { khs::then_deep_copy(root, to_a, a); });
    graph.submit();
    instance.fence();
    expect_multiples(to_a, 1);
  });
}

TEST_CASE("whichever call fails: streamed loops", "[failures]") {
  auto const twice = KOKKOS_LAMBDA(std::int64_t i, In a, Out b) { b(i) = 2 * a(i); };
  sweep("a loop", [&](Setting&) {
    Pinned const a = counted("a"), b = made("b");
    khs::streamed_for("twice", {.chunk_rows = 500}, n, twice, khs::read(a), khs::write(b)).fence();
    expect_multiples(b, 2);
  });
  sweep(
      "a reduction",
      [](Setting&) {
        double sum = 0;
        khs::streamed_reduce(
            "sum", {.chunk_rows = 500}, n,
            KOKKOS_LAMBDA(std::int64_t i, In a, double& part) { part += a(i); },
            Kokkos::Sum<double>(sum), khs::read(counted("a")));
        expect(sum == n * (n - 1) / 2, "the sum is wrong");
      },
      makes_views);
  sweep("a chain", [&](Setting&) {
    Pinned const a = counted("a"), b = made("b");
    khs::streamed_chain("steps", {.chunk_rows = 500}, n,
                        khs::stage(twice, khs::read(a), khs::write(b)),
                        khs::stage(twice, khs::read(b), khs::write(a)))
        .fence();
    expect_multiples(a, 4);
  });
}

TEST_CASE("whichever call fails: reductions and loops over vectors", "[failures]") {
  Pageable const a = counted<Pageable>("a"), b = made<Pageable>("b"), sum = made<Pageable>("sum");
  Execution const instance;
  sweep("element by element", [&](Setting&) {
    khs::element_wise("twice", instance, b, Twice(), a);
    khs::element_sum("sum", instance, Kokkos::subview(sum, 0), Twice(), a);
    instance.fence();
    expect_multiples(b, 2);
    expect(sum(0) == n * (n - 1), "the sum is wrong");
  });
}

TEST_CASE("whichever call fails: PinnedDualView", "[failures]") {
  sweep(
      "modify and sync",
      [](Setting&) {
        khs::PinnedDualView<double*> dual("label", n);
        dual.view_host()(1) = 7;
        dual.modify_host();
        dual.sync_device();
        dual.resize(2 * n);
        expect(dual.view_host()(1) == 7, "the contents are wrong");
      },
      makes_views);
}

TEST_CASE("whichever call fails: snapshots", "[failures]") {
  sweep(
      "take a snapshot",
      [](Setting&) {
        std::atomic<int> written = 0;
        bool taken               = false;
        {
          khs::SnapshotQueue queue;
          auto const a = counted<Pageable>("a");
          auto const s =
              queue.take("label", Execution(), a,
                         [&](khs::SnapshotView<Pageable> const& view) { written += view(7) == 7; });
          taken = true;
          s.fence();
        }
        expect(written == int(taken), "it is not written");
      },
      makes_views);
}
