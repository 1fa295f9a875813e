// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops as users write them. StreamedRandom.cpp has random ones.

#include "../KokkosTest.hpp"

namespace {

using Pinned = Kokkos::View<double*, khs::PinnedSpace>;
using In     = khs::Chunk<double const*>;
using Out    = khs::Chunk<double*>;

Pinned multiples(int n, double factor) {
  Pinned const vector("numbers", n);
  for (int i = 0; i < n; ++i) vector(i) = factor * i;
  return vector;
}

template <class View>
int wrong(View const& vector, double factor) {
  int count = 0;
  for (std::size_t i = 0; i < vector.extent(0); ++i) count += vector(i) != factor * double(i);
  return count;
}

// A reducer of an application: the root of a sum of squares. Has no init, so the identity is Norm().
struct Norm {
  double value = 0;
};
struct NormReducer {
  using reducer          = NormReducer;
  using value_type       = Norm;
  using result_view_type = Kokkos::View<Norm, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  result_view_type result;

  KOKKOS_FUNCTION void join(Norm& into, Norm const& part) const { into.value += part.value; }
  KOKKOS_FUNCTION void final(Norm& norm) const { norm.value = Kokkos::sqrt(norm.value); }
  KOKKOS_FUNCTION Norm& reference() const { return *result.data(); }
  KOKKOS_FUNCTION result_view_type view() const { return result; }
  KOKKOS_FUNCTION bool references_scalar() const { return true; }
};

// What Kokkos asks of a reducer.
struct BareReducer {
  using reducer          = BareReducer;
  using value_type       = Norm;
  using result_view_type = Kokkos::View<Norm, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  result_view_type result;

  KOKKOS_FUNCTION void join(Norm& into, Norm const& part) const { into.value += part.value; }
  KOKKOS_FUNCTION result_view_type const& view() const { return result; }
};

struct Particle {
  double position[3];
  int kind;
};

}  // namespace

TEST_CASE("chunks, or references to elements: a body takes what it likes", "[streamed]") {
  Pinned const a = multiples(1000, 0), b = multiples(1000, 1), c = multiples(1000, 2);
  khs::streamed_for(
      "chunks", 1000, KOKKOS_LAMBDA(std::int64_t i, In x, In y, Out z) { z(i) = x(i) + 3 * y(i); },
      khs::read(b), khs::read(c), khs::write(a))
      .fence();
  CHECK(wrong(a, 7) == 0);
  khs::streamed_for(
      "references", 1000, KOKKOS_LAMBDA(std::int64_t, double const& x, double& z) { z += x; },
      khs::read(b), khs::update(a))
      .fence();
  CHECK(wrong(a, 8) == 0);
}

TEST_CASE("a reduction gives a variable at once, and a View after a fence", "[streamed]") {
  Pinned const a = multiples(1000, 1);
  auto const sum = KOKKOS_LAMBDA(std::int64_t i, In x, double& s) { s += x(i); };
  double result  = 0;
  khs::streamed_reduce("variable", 1000, sum, Kokkos::Sum<double>(result), khs::read(a));
  CHECK(result == 1000. * 999 / 2);
  Kokkos::View<double, Kokkos::HostSpace> const view("result");
  khs::streamed_reduce("view", 1000, sum, Kokkos::Sum<double, Kokkos::HostSpace>(view),
                       khs::read(a))
      .fence();
  CHECK(view() == result);
  Kokkos::MinMaxScalar<double> both{};
  khs::streamed_reduce(
      "both", khs::StreamOptions<>{.chunk_rows = 10}, khs::Box<1>({5}, {700}),
      KOKKOS_LAMBDA(std::int64_t i, In x, Kokkos::MinMaxScalar<double> & m) {
        if (x(i) < m.min_val) m.min_val = x(i);
        if (x(i) > m.max_val) m.max_val = x(i);
      },
      Kokkos::MinMax<double>(both), khs::read(a));
  CHECK(both.min_val == 5);
  CHECK(both.max_val == 699);
  khs::streamed_reduce("nothing", 0, sum, Kokkos::Sum<double>(result), khs::read(multiples(0, 0)));
  CHECK(result == 0);
}

TEST_CASE("a reducer of an application may have a final, and needs no init and no reference",
          "[streamed]") {
  Pinned const a = multiples(9, 1);
  for (std::int64_t const chunk_rows : {0, 4}) {
    Norm norm;
    NormReducer const reducer{NormReducer::result_view_type(&norm)};
    khs::streamed_reduce(
        "norm", khs::StreamOptions<>{.chunk_rows = chunk_rows}, 9,
        KOKKOS_LAMBDA(std::int64_t, In, Norm & n) { n.value += 1; }, reducer, khs::read(a));
    CHECK(reducer.view()().value == 3);
    khs::streamed_reduce(
        "bare", khs::StreamOptions<>{.chunk_rows = chunk_rows}, 9,
        KOKKOS_LAMBDA(std::int64_t, In, Norm & n) { n.value += 1; },
        BareReducer{BareReducer::result_view_type(&norm)}, khs::read(a));
    CHECK(norm.value == 9);
  }
}

TEST_CASE("loops are written as those of Kokkos", "[streamed]") {
  using Exec     = Kokkos::DefaultExecutionSpace;
  Pinned const a = multiples(1000, 1), b = multiples(1000, 0);
  auto const body = KOKKOS_LAMBDA(std::int64_t i, In x, Out y) { y(i) = 2 * x(i); };
  auto const none = [&] {
    int const count = wrong(b, 2);
    Kokkos::deep_copy(b, 0);
    return count;
  };
  khs::streamed_for("n", 1000, body, khs::read(a), khs::write(b)).fence();
  CHECK(none() == 0);
  khs::streamed_for("instance", Exec(), 1000, body, khs::read(a), khs::write(b)).fence();
  CHECK(none() == 0);
  khs::streamed_for("braces", {.chunk_rows = 7}, 1000, body, khs::read(a), khs::write(b)).fence();
  CHECK(none() == 0);
  khs::streamed_chain("chain", 1000, khs::steps(1, body, khs::read(a), khs::write(b))).fence();
  CHECK(none() == 0);

  Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace> const table("table", 9, 5);
  auto const ones = KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, khs::Chunk<double**> t) {
    t(i, j) += 1;
  };
  khs::streamed_for("mixed", khs::Box<2>({1, 1}, {8, table.extent(1)}), ones, khs::update(table))
      .fence();
  CHECK(table(1, 1) + table(7, 4) == 2);
  CHECK(table(0, 1) + table(8, 1) + table(1, 0) == 0);

  Kokkos::View<double*, Kokkos::LayoutStride, khs::PinnedSpace> const row =
      Kokkos::subview(table, 1, Kokkos::ALL);
  double sum = 0;
  khs::streamed_reduce(
      "sum", 5, KOKKOS_LAMBDA(std::int64_t i, In x, double& s) { s += x(i); }, sum, khs::read(row));
  CHECK(sum == 4);
  Kokkos::View<double, khs::PinnedSpace> const result("result");
  Exec const instance;
  khs::streamed_reduce(
      "any fence", instance, 5, KOKKOS_LAMBDA(std::int64_t i, In x, double& s) { s += x(i); },
      result, khs::read(row));
  instance.fence();
  CHECK(result() == 4);
  Kokkos::View<double*, Kokkos::LayoutStride, khs::PinnedSpace> const column =
      Kokkos::subview(table, Kokkos::ALL, 1);
  CHECK_THROWS_MATCHES(
      khs::streamed_for("column", 9, KOKKOS_LAMBDA(std::int64_t, double&){}, khs::update(column)),
      khs::Error, MessageMatches(ContainsSubstring("has gaps")));
}

TEST_CASE("a reduction may write arguments as well, also what it reads", "[streamed]") {
  auto const step = KOKKOS_LAMBDA(std::int64_t i, In x, Out y, double& change) {
    y(i) = 3 * x(i);
    change += y(i) - x(i);
  };
  for (std::int64_t const chunk_rows : {0, 77}) {
    khs::StreamOptions<> const options{.chunk_rows = chunk_rows};
    Pinned const a = multiples(1000, 1), b = multiples(1000, 0);
    double change = 0;
    khs::streamed_reduce("other", options, 1000, step, Kokkos::Sum<double>(change), khs::read(a),
                         khs::write(b));
    CHECK(wrong(b, 3) == 0);
    CHECK(change == 2 * 1000. * 999 / 2);
    khs::streamed_reduce("same", options, 1000, step, Kokkos::Sum<double>(change), khs::read(b),
                         khs::write(b));
    CHECK(wrong(b, 9) == 0);
    CHECK(change == 6 * 1000. * 999 / 2);
  }
}

TEST_CASE(
    "a resident View is copied once, and again when the host has changed it; structures are streamed from HostSpace",
    "[streamed]") {
  constexpr int n = 1000;
  Kokkos::View<Particle*, Kokkos::HostSpace> const particles("particles", n);
  Kokkos::View<double* [2], Kokkos::LayoutRight, khs::PinnedSpace> const pairs("pairs", n);
  Pinned const table("table", 3);
  auto const resident = khs::resident(table);
  for (auto const transport : {khs::Transport::staged, khs::Transport::automatic}) {
    table(2) += 5;
    resident.refresh();
    auto const loop = khs::streamed_for(
        "fill", khs::StreamOptions<>{.transport = transport, .chunk_rows = 77}, n,
        KOKKOS_LAMBDA(std::int64_t i, In t, khs::Chunk<Particle*> p, khs::Chunk<double* [2]> q) {
          p(i)    = {{double(i), t(2) * double(i), 0}, int(i)};
          q(i, 0) = double(i);
          q(i, 1) = -double(i);
        },
        khs::read(resident), khs::write(particles), khs::write(pairs));
    loop.fence();
    CHECK((loop.is_done() && loop.chunks() > 0));
    CHECK_THAT(loop.explain(), ContainsSubstring("streamed_for \"fill\": "));
    int count = 0;
    for (int i = 0; i < n; ++i)
      count +=
          particles(i).kind != i || particles(i).position[1] != table(2) * i || pairs(i, 1) != -i;
    CHECK(count == 0);
  }
  CHECK(khs::stream_memory().limit == std::size_t(1) << 30);
  khs::release_stream_memory();
  CHECK(khs::stream_memory().held == 0);
}

TEST_CASE(
    "reads find what was there before the loop, also if the body writes first; in place it is refused",
    "[streamed]") {
  auto const late = KOKKOS_LAMBDA(std::int64_t i, In x, Out y) {
    y(i) = -1;
    y(i) = 2 * x(i);
  };
  Pinned const a = multiples(1000, 1);
  khs::streamed_for("loop", 1000, late, khs::read(a), khs::write(a)).fence();
  CHECK(wrong(a, 2) == 0);
  khs::streamed_chain("steps", 1000, khs::steps(1, late, khs::read(a), khs::write(a))).fence();
  CHECK(wrong(a, 4) == 0);
#ifdef KOKKOS_ENABLE_CUDA
  auto const refuses = [&](char const* words, auto const& from, khs::halo halo = khs::halo(0)) {
    CHECK_THROWS_MATCHES(
        khs::streamed_for<khs::ZeroCopy>("loop", 1000, late, khs::read(from, halo), khs::write(a)),
        khs::Error, MessageMatches(ContainsSubstring(words)));
  };
  refuses("new values", a);
  refuses("use Staged", a, khs::halo(1));
  refuses("is device memory", Kokkos::View<double*, Kokkos::CudaSpace>("device", 1000));
  refuses("not page-locked", Kokkos::View<double*, Kokkos::HostSpace>("pageable", 1000));
  CHECK(wrong(a, 4) == 0);
#endif
}

// Run with KOKKOS_HOST_SPACES_STREAM_MEMORY=6M, and 0.
TEST_CASE("the environment says how much device memory loops keep, and one of them takes half",
          "[.][stream_memory]") {
  constexpr std::size_t MiB = 1 << 20, none = std::numeric_limits<std::size_t>::max();
  std::string const asked = std::getenv("KOKKOS_HOST_SPACES_STREAM_MEMORY");
  CHECK(khs::stream_memory().limit == (asked == "0" ? none : 6 * MiB));
  constexpr int n     = 1 << 20;
  Pinned const a      = multiples(n, 1);
  auto const increase = KOKKOS_LAMBDA(std::int64_t, double& x) { x += 1; };
  auto const loop     = khs::streamed_for<khs::Staged>("increase", n, increase, khs::update(a));
  loop.fence();
  CHECK(a(n - 1) == n);
  CHECK(khs::Impl::memory_of_a_loop() == khs::stream_memory().limit / 2);
  CHECK(loop.device_memory() <= khs::stream_memory().limit / 2);
#ifdef KOKKOS_ENABLE_CUDA
  CHECK(loop.device_memory() > (asked == "0" ? 3 * MiB : 2 * MiB));
#endif
}
