// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Figures of streamed loops on a GPU at a glance; perf/suite/stream measures them beside twins.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace khs = KokkosHostSpaces;

namespace {

using Vector = Kokkos::View<double*, khs::PinnedSpace>;
using Cube   = Kokkos::View<double***, Kokkos::LayoutRight, khs::PinnedSpace>;
using Clock  = std::chrono::steady_clock;

Vector vector(std::size_t n) {
  return Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, "vector"), n);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Triad {
  template <class U, class V, class W>
  KOKKOS_FUNCTION void operator()(std::int64_t i, U const& b, V const& c, W const& a) const {
    a(i) = b(i) + 3.1 * c(i);
  }
};

struct Laplace {
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k, U const& u,
                                  V const& v) const {
    v(i, j, k) = 0.4 * u(i, j, k) + 0.1 * (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) +
                                           u(i, j + 1, k) + u(i, j, k - 1) + u(i, j, k + 1));
  }
};

}  // namespace

// Hidden: a minute of work for figures, as `memspaces_tests "[streamed_rates]"`.
TEST_CASE("a triad of three gibibytes: staged and zero-copy", "[.][streamed_rates][cuda]") {
  std::size_t const n = std::size_t(1) << 27;
  Vector const a = vector(n), b = vector(n), c = vector(n);
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, n),
                       [=](std::size_t i) {
                         a(i) = 0;
                         b(i) = double(i);
                         c(i) = 1;
                       });
  Kokkos::fence();
  double const bytes = 3. * double(n) * sizeof(double);
  for (std::int64_t const mib : {0, 4, 8, 16, 32}) {
    for (khs::Transport const transport : {khs::Transport::staged, khs::Transport::zero_copy}) {
      if (transport == khs::Transport::zero_copy && mib > 0) continue;
      for (int const slots : {2, 3, 4}) {
        if (transport == khs::Transport::zero_copy && slots != 3) continue;
        khs::StreamOptions<> const options{
            .transport = transport, .chunk_rows = mib << 17, .slots = slots};
        double best = 1e9, enqueued = 0;
        std::string text;
        for (int round = 0; round < 4; ++round) {
          auto const start = Clock::now();
          auto const loop  = khs::streamed_for("triad", options, n, Triad(), khs::read(b),
                                               khs::read(c), khs::write(a));
          enqueued         = seconds_since(start);
          loop.fence();
          best = std::min(best, seconds_since(start));
          text = loop.explain();
        }
        std::printf("%6.2f GB/s, enqueued in %5.0f us: %s\n", bytes / best * 1e-9, enqueued * 1e6,
                    text.c_str());
      }
    }
  }
  CHECK(a(n - 1) == double(n - 1) + 3.1);
}

TEST_CASE("two streamed loops at once", "[.][streamed_rates][cuda]") {
  std::size_t const n = std::size_t(1) << 26;
  Vector const a = vector(n), b = vector(n), c = vector(n), d = vector(n);
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  for (Vector const& each : {a, b, c, d}) Kokkos::deep_copy(each, 1);
  auto const run = [&](int which, Vector const& from, Vector const& to) {
    khs::StreamOptions<Kokkos::Cuda> const options{.transport = khs::Transport::staged,
                                                   .instances = {instances[which]}};
    return khs::streamed_for("triad", options, n, Triad(), khs::read(from), khs::read(from),
                             khs::write(to));
  };
  for (int round = 0; round < 4; ++round) {
    auto start = Clock::now();
    run(0, a, b).fence();
    double const first = seconds_since(start);
    run(1, c, d).fence();
    double const serial = seconds_since(start);
    start               = Clock::now();
    auto const one = run(0, a, b), other = run(1, c, d);
    one.fence();
    double const one_done = seconds_since(start);
    other.fence();
    std::printf("alone %.2f ms, one after the other %.2f ms; at once: %.2f and %.2f ms\n",
                first * 1e3, serial * 1e3, one_done * 1e3, seconds_since(start) * 1e3);
  }
}

TEST_CASE("steps of a stencil in one pass", "[.][streamed_rates][cuda]") {
  constexpr int n = 640;  // 2 GiB
  Cube const u(Kokkos::view_alloc(Kokkos::WithoutInitializing, "u"), n, n, n);
  Cube const v(Kokkos::view_alloc(Kokkos::WithoutInitializing, "v"), n, n, n);
  Kokkos::deep_copy(u, 1);
  khs::Box<3> const box({1, 1, 1}, {n - 1, n - 1, n - 1});
  for (int const count : {1, 2, 3, 4, 6, 8}) {
    for (std::size_t const mib : {0, 256, 1024}) {
      khs::StreamOptions<> const options{.transport     = khs::Transport::staged,
                                         .device_memory = mib << 20};
      double best = 1e9;
      std::string text;
      for (int round = 0; round < 3; ++round) {
        auto const start = Clock::now();
        auto const loop  = khs::streamed_chain(
             "steps", options, box,
             khs::steps(count, Laplace(), khs::read(u, khs::halo(1)), khs::write(v)));
        loop.fence();
        best = std::min(best, seconds_since(start));
        text = loop.explain();
      }
      std::printf("%d steps %7.2f ms: %s\n", count, best * 1e3, text.c_str());
    }
  }
}
