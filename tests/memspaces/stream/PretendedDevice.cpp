// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Mistakes that a GPU would not tell of. These cases run with KOKKOS_HOST_SPACES_PRETEND_DEVICE=on.

#include "../KokkosTest.hpp"

#include <catch2/matchers/catch_matchers_predicate.hpp>

#include <sys/resource.h>

using khs::Transport;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
template <class T>
using Pinned = Kokkos::View<T, Kokkos::LayoutRight, khs::PinnedSpace>;

constexpr int n = 1000;

template <class T = double>
Pinned<T*> counted(char const* label) {
  Pinned<T*> const result(label, n);
  for (int i = 0; i < n; ++i) result(i) = T(i % 100 + 1);
  return result;
}

// Chunks of 100 rows.
khs::StreamOptions<Host> chunks_of_100(Transport transport = Transport::staged) {
  khs::StreamOptions<Host> options;
  options.transport  = transport;
  options.chunk_rows = 100;
  return options;
}

long most_memory_so_far() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * 1024;
}

auto tells(auto const... words) {
  return Catch::Matchers::Predicate<khs::Error>(
      [=](khs::Error const& error) {
        return ((std::string(error.what()).find(words) != std::string::npos) && ...);
      },
      (std::string("tells") + ... + (std::string(" '") + words + "'")));
}

template <class T>
struct FiveBefore {
  void operator()(std::int64_t i, khs::Chunk<T const*> x, khs::Chunk<T*> y) const {
    y(i) = x(i - 5) / 2;
  }
};

struct Padded {
  double value;
  char letter;
};

using In  = khs::Chunk<double const*>;
using Out = khs::Chunk<double*>;

// A loop in chunks of 100 rows.
template <class Body, class... Arguments>
void loop(char const* label, std::int64_t begin, std::int64_t end, Body const& body,
          Arguments const&... arguments) {
  khs::streamed_for(label, chunks_of_100(), khs::Box<1>({begin}, {end}), body, arguments...)
      .fence();
}

}  // namespace

TEMPLATE_TEST_CASE("a halo that is too small is told", "[.][pretended_device]", double, float, int,
                   std::int64_t, std::uint8_t) {
  auto const x = counted<TestType>("x"), y = counted<TestType>("y");
  auto const shift = [&](int halo, auto const& x_or_y) {
    khs::streamed_for("shift", chunks_of_100(), khs::Box<1>({5}, {n}), FiveBefore<TestType>(),
                      khs::read(x, khs::halo(halo)), khs::write(x_or_y))
        .fence();
  };
  CHECK_NOTHROW(shift(5, y));
  for (int i = 5; i < n; ++i) REQUIRE(y(i) == TestType((i - 5) % 100 + 1) / 2);
  CHECK_NOTHROW(shift(5, x));
  CHECK_THROWS_MATCHES(shift(1, y), khs::Error,
                       tells("streamed_for \"shift\": \"x\"(", "read by the chunk of rows ",
                             "beyond its halo of 1", "larger khs::halo"));
  // The first chunk has rows 5 to 104, the next one goes on at 105.
  CHECK_THROWS_MATCHES(
      shift(4, x), khs::Error,
      tells("\"x\"(0) is read by the chunk of rows 5 to 104", "halo of 4", "rows 1 to 108"));
}

namespace {

// The loop over y whose body makes `f` of the element of x behind its own.
template <class X, class F>
void of_the_next(X const& x, F const& f) {
  using T        = typename X::value_type;
  auto const y   = counted<T>("y");
  auto const all = khs::Box<1>({0}, {n - 1});
  khs::streamed_for(
      "next", chunks_of_100(), all,
      [=](std::int64_t i, khs::Chunk<T const*> a, khs::Chunk<T*> b) { b(i) = T(f(a(i + 1))); },
      khs::read(x), khs::write(y))
      .fence();
}

}  // namespace

TEMPLATE_TEST_CASE("an element beyond the halo is told, whatever becomes of its value",
                   "[.][pretended_device]", double, int, unsigned, bool) {
  Pinned<TestType*> const x("x", n);  // is zero, as the results are of most values of it
  auto const next = tells("\"x\"(", "beyond its halo of 0");
  auto const told = [&](auto const& f) {
    CHECK_THROWS_MATCHES(of_the_next(x, f), khs::Error, next);
  };
  told([](auto v) { return v != 0; });
  told([](auto v) { return v == TestType(3); });
  told([](auto v) { return int(v) & 1; });
  told([](auto v) { return v > 0; });
  told([](auto v) { return 0 * v; });
  // As an index it is that of the host until it is told.
  Kokkos::View<int*, Kokkos::HostSpace> const table("table", n);
  for (int i = 0; i < n; ++i) x(i) = TestType((7 * i) % n);
  told([=](auto v) { return table(int(v)); });
}

TEST_CASE("elements of large reads that lie far beyond the halo are poison, too",
          "[.][pretended_device]") {
  Pinned<double***> const u("u", 30, 40, 50), v("v", 30, 40, 50);
  auto const above = [&](int halo) {
    khs::streamed_for(
        "above", khs::Box<3>({3, 0, 0}, {30, 40, 50}),
        [](std::int64_t i, std::int64_t j, std::int64_t k, khs::Chunk<double const***> in,
           khs::Chunk<double***> out) { out(i, j, k) = in(i - 3, j, k) + 1; },
        khs::read(u, khs::halo(halo)), khs::write(v))
        .fence();
  };
  CHECK_NOTHROW(above(3));
  CHECK_THROWS_MATCHES(above(2), khs::Error, tells("\"u\"(0, ", "halo of 2"));
}

TEST_CASE("the index of a View that is LayoutLeft is told as the body has it",
          "[.][pretended_device]") {
  using Left = Kokkos::View<double**, Kokkos::LayoutLeft, khs::PinnedSpace>;
  Left const u("u", 20, 80);
  CHECK_THROWS_MATCHES(khs::streamed_for(
                           "holes", khs::Box<2>({20, 80}),
                           [](std::int64_t i, std::int64_t j, khs::chunk_of<Left> x) {
                             if (i != 7 || j < 60) x(i, j) = 1;
                           },
                           khs::write(u))
                           .fence(),
                       khs::Error, tells("\"u\"(7, 60) keeps"));
}

TEST_CASE("an element that is not written, or is computed from what was there, is told",
          "[.][pretended_device]") {
  auto const x = counted("x"), y = counted("y");
  auto const most = [&](int than, auto const& argument) {
    loop(
        "some", 0, n, [=](std::int64_t i, Out a) { i < than ? void(a(i) = -1) : void(); },
        argument);
  };
  CHECK_NOTHROW(most(n, khs::write(y)));
  CHECK_THROWS_MATCHES(most(437, khs::write(y)), khs::Error,
                       tells("\"y\"(437) keeps", "not assigned", "khs::update"));
  CHECK_NOTHROW(most(437, khs::update(y)));
  auto const add = [&](auto const& argument) {
    loop(
        "add", 0, n, [](std::int64_t i, In a, Out b) { b(i) += a(i); }, khs::read(x), argument);
  };
  CHECK_THROWS_MATCHES(add(khs::write(y)), khs::Error,
                       tells("\"y\"(0) is computed from what \"y\" had before", "khs::update"));
  CHECK_NOTHROW(add(khs::update(y)));
  Kokkos::deep_copy(x, 0);
  CHECK_THROWS_MATCHES(add(khs::write(y)), khs::Error, tells("\"y\"(0) keeps", "+= 0"));
}

TEST_CASE("elements of other rows and chunks are told, with the argument that allows them",
          "[.][pretended_device]") {
  auto const x = counted("x"), y = counted("y");
  CHECK_THROWS_MATCHES(loop(
                           "before", 0, n, [](std::int64_t i, In a, Out b) { b(i) = a(i - 1); },
                           khs::read(x, khs::halo(1)), khs::write(y)),
                       khs::Error, tells("\"x\"(-1) is read", "rows 0 to 999", "smaller range"));
  auto const prefix = [&](auto const& argument) {
    loop(
        "prefix", 1, n, [](std::int64_t i, Out a) { a(i) = a(i - 1) + 1; }, argument);
  };
  auto const of_first_chunk = "\"y\"(0) is read by the chunk of rows 1 to 100";
  CHECK_THROWS_MATCHES(prefix(khs::update(y)), khs::Error,
                       tells(of_first_chunk, "khs::update has", "khs::read with a khs::halo"));
  CHECK_THROWS_MATCHES(prefix(khs::write(y)), khs::Error,
                       tells(of_first_chunk, "khs::write has", "khs::read with a khs::halo"));
  CHECK_THROWS_MATCHES(loop(
                           "next", 0, n,
                           [](std::int64_t i, Out a) {
                             a(i) = 1;
                             if (i == 199) a(i + 1) = 1;
                           },
                           khs::write(y)),
                       khs::Error, tells("\"y\"(200) is written by the chunk of rows 100 to 199"));
  // Told before that elements of its own are not written, whose remedy would be khs::update.
  CHECK_THROWS_MATCHES(
      loop(
          "all to the next", 0, n - 1, [](std::int64_t i, Out a) { a(i + 1) = 1; }, khs::write(y)),
      khs::Error, tells("\"y\"(100) is written by the chunk of rows 0 to 99"));
}

TEST_CASE("reductions and steps beyond the halo are told, others are right",
          "[.][pretended_device]") {
  auto const x      = counted("x");
  double sum        = 0;
  auto const reduce = [&](int halo) {
    khs::streamed_reduce(
        "steps", chunks_of_100(), khs::Box<1>({1}, {n}),
        [](std::int64_t i, In a, double& part) { part += a(i) > a(i - 1) ? 1 : 0; },
        Kokkos::Sum<double>(sum), khs::read(x, khs::halo(halo)));
  };
  reduce(1);
  CHECK(sum == n - 1 - 9);
  CHECK_THROWS_MATCHES(reduce(0), khs::Error, tells("\"x\"(", "halo of 0"));
  using Reducer = Kokkos::MinLoc<double, int>;
  x(321)        = -5;
  Reducer::value_type least;  // the same in the run of the host, and in that of the device
  khs::streamed_reduce(
      "least", chunks_of_100(), n,
      [](std::int64_t i, In a, Reducer::value_type& part) {
        if (a(i) < part.val) part = {a(i), int(i)};
      },
      Reducer(least), khs::read(x));
  CHECK((least.val == -5 && least.loc == 321));
  auto const steps = [&](int halo) {
    khs::streamed_chain("steps", chunks_of_100(), khs::Box<1>({2}, {n - 2}),
                        khs::steps(
                            3, [](std::int64_t i, In a, Out b) { b(i) = a(i - 2) + a(i + 2); },
                            khs::read(x, khs::halo(halo)), khs::write(x)))
        .fence();
  };
  CHECK_NOTHROW(steps(2));
  CHECK_THROWS_MATCHES(steps(1), khs::Error, tells("\"x\"(", "halo of 1"));
}

TEST_CASE("padding and random numbers are no mistake, also if there are few of them",
          "[.][pretended_device]") {
  auto const x = counted<int>("x");
  Pinned<Padded*> const padded("padded", n);
  CHECK_NOTHROW(khs::streamed_for(
                    "pad", chunks_of_100(), n,
                    [](std::int64_t i, khs::Chunk<Padded*> p) {
                      p(i).value  = double(i);
                      p(i).letter = 'a';
                    },
                    khs::write(padded))
                    .fence());
  std::atomic<unsigned> state(1);
  auto const coin = [&] {
    unsigned number = state.fetch_add(0x9e3779b9U);
    number          = (number ^ (number >> 16U)) * 0x85ebca6bU;
    return int((number >> 13U) & 1U);
  };
  long heads = 0;
  for (int seed = 0; seed < 5; ++seed) {
    CHECK_NOTHROW(khs::streamed_for(
                      "coins", chunks_of_100(), n,
                      [&](std::int64_t i, khs::Chunk<int*> a) { a(i) = coin(); }, khs::write(x))
                      .fence());
    CHECK_NOTHROW(khs::streamed_reduce(
        "heads", chunks_of_100(), n,
        [&](std::int64_t, khs::Chunk<int const*>, long& part) { part += coin(); },
        Kokkos::Sum<long>(heads), khs::read(x)));
  }
}

TEST_CASE("kernels in place are refused a View that they read and write", "[.][pretended_device]") {
  auto const x = counted("x"), y = counted("y");
  auto const run = [&](auto const& from, auto const& to) {
    khs::streamed_for<khs::ZeroCopy>(
        "sides", khs::Box<1>({1}, {n - 1}),
        [](std::int64_t i, In a, Out b) { b(i) = a(i - 1) + a(i + 1); },
        khs::read(from, khs::halo(1)), khs::write(to))
        .fence();
  };
  CHECK_THROWS_MATCHES(
      run(x, x), khs::Error,
      tells("\"sides\"", "\"x\"", "read and written", "write another View, or use Staged"));
  CHECK_NOTHROW(run(x, y));
}

TEST_CASE("loops are staged within their device memory", "[.][pretended_device]") {
  Pinned<double*> const x("x", 1 << 18), y("y", 1 << 18);
  khs::StreamOptions<Host> options;
  options.device_memory = 1 << 19;
  auto const copy       = [](std::int64_t i, khs::Chunk<double const*> a, khs::Chunk<double*> b) {
    b(i) = a(i);
  };
  auto const loop =
      khs::streamed_for("copy", options, x.extent(0), copy, khs::read(x), khs::write(y));
  CHECK(loop.transport() == Transport::staged);
  CHECK(loop.chunks() >= 8);
  CHECK(loop.device_memory() <= options.device_memory);
  CHECK_THAT(loop.explain(), ContainsSubstring("pretended device"));
  options.device_memory = 16;
  options.transport     = Transport::staged;
  CHECK_THROWS_MATCHES(
      khs::streamed_for("copy", options, x.extent(0), copy, khs::read(x), khs::write(y)).fence(),
      khs::Error, tells("device memory"));
}

TEST_CASE("a large resident table takes no memory for each chunk", "[.][pretended_device]") {
  constexpr long MiB = 1 << 20, bytes = 32 * MiB;
  Kokkos::View<char*, Kokkos::HostSpace> const table("table", std::size_t(bytes));
  auto const x = counted("x"), y = counted("y");
  long const before = most_memory_so_far();
  khs::streamed_for(
      "table", chunks_of_100(), n,
      KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> from,
                    khs::Chunk<char const*> of_table,
                    khs::Chunk<double*> to) { to(i) = from(i) + double(of_table(i)); },
      khs::read(x), khs::read(khs::resident(table)), khs::write(y))
      .fence();
  CHECK(most_memory_so_far() - before < bytes);
}

TEST_CASE("long rows take about the memory that they have", "[.][pretended_device]") {
  using Left        = Kokkos::View<double* [3], Kokkos::LayoutLeft, khs::PinnedSpace>;
  constexpr int m   = 1 << 20;
  constexpr long of = 3L * m * long(sizeof(double));
  Left const x("x", m), y("y", m);
  Kokkos::deep_copy(x, 1);
  Kokkos::deep_copy(y, 2);
  long const before = most_memory_so_far();
  khs::streamed_for(
      "coordinates", khs::Box<2>({m, 3}),
      [](std::int64_t i, std::int64_t j, khs::const_chunk_of<Left> a, khs::chunk_of<Left> b) {
        b(i, j) = a(i, j) + 1;
      },
      khs::read(x), khs::write(y))
      .fence();
  CHECK(y(m - 1, 2) == 2);
  CHECK(most_memory_so_far() - before < 4 * of);
}

TEST_CASE("a resident table that was changed is told", "[.][pretended_device]") {
  auto const table = counted("table"), y = counted("y");
  auto const kept = khs::resident(table);
  auto const run  = [&] {
    khs::streamed_for(
         "from a table", chunks_of_100(), n,
         [](std::int64_t i, khs::Chunk<double const*> t, khs::Chunk<double*> a) { a(i) = t(9); },
         khs::read(kept), khs::write(y))
        .fence();
  };
  table(9) = 5;  // before the first loop
  CHECK_NOTHROW(run());
  CHECK_NOTHROW(run());
  table(9) = 6;
  CHECK_THROWS_MATCHES(
      run(), khs::Error,
      tells("streamed_for \"from a table\": \"table\"", "has changed", "refresh()"));
  kept.refresh();
  CHECK_NOTHROW(run());
  CHECK(y(0) == 6);
}
