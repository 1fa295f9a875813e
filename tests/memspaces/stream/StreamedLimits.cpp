// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The smallest and the largest that can be said to a streamed loop.

#include "../KokkosTest.hpp"

namespace {
using Mapped = Kokkos::View<double*, khs::MappedSpace>;
using Table  = Kokkos::View<double**, Kokkos::LayoutRight, khs::MappedSpace>;
using In     = khs::Chunk<double const*>;
using Out    = khs::Chunk<double*>;
using khs::Transport;

struct Sides {
  KOKKOS_FUNCTION void operator()(std::int64_t i, In x, Out y) const { y(i) = x(i - 1) + x(i + 1); }
};
struct Increase {
  KOKKOS_FUNCTION void operator()(std::int64_t i, In x, Out y) const { y(i) += x(i); }
};
struct PlusOne {
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, khs::Chunk<double const**> x,
                                  khs::Chunk<double**> y) const {
    y(i, j) = x(i, j) + 1;
  }
};
struct Above {
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, khs::Chunk<double const**> x,
                                  khs::Chunk<double**> y) const {
    y(i, j) = 2 * x(i - 1, j);
  }
};
struct Sum {
  KOKKOS_FUNCTION void operator()(std::int64_t i, In x, double& sum) const { sum += x(i); }
};
struct SumOfBytes {
  KOKKOS_FUNCTION void operator()(std::int64_t i, khs::Chunk<char const*> x,
                                  std::int64_t& sum) const {
    sum += x(i) * i;
  }
};

Mapped counted(int n) {
  Mapped const result("counted", n);
  for (int i = 0; i < n; ++i) result(i) = i;
  return result;
}
}  // namespace

TEST_CASE("loops over nothing do nothing, whatever their Views", "[streamed_limits]") {
  for (auto const& [a, b] :
       {std::pair(Mapped(), Mapped()), std::pair(Mapped("a", 0), Mapped("b", 0))}) {
    CHECK_NOTHROW(khs::streamed_for("update", 0, Increase(), khs::read(a), khs::update(b)).fence());
    khs::Box<1> const inside({1}, {-1});
    CHECK_NOTHROW(
        khs::streamed_for("sides", inside, Sides(), khs::read(a, khs::halo(1)), khs::write(b)));
    CHECK_NOTHROW(khs::streamed_chain(
        "sides", inside, khs::steps(2, Sides(), khs::read(a, khs::halo(1)), khs::write(b))));
    double sum = 7;
    khs::streamed_reduce("sum", 0, Sum(), Kokkos::Sum<double>(sum), khs::read(a));
    CHECK(sum == 0);
  }
}

TEST_CASE(
    "what no loop can have is refused before anything runs, and the message tells loop and argument",
    "[streamed_limits]") {
  Mapped const a = counted(9), b = counted(9), c = counted(8);
  auto const refused = [&](std::string const& words, auto n,
                           khs::StreamOptions<> const& options = {}) {
    CHECK_THROWS_MATCHES(
        khs::streamed_for("add", options, n, Increase(), khs::read(a), khs::update(b)), khs::Error,
        MessageMatches(ContainsSubstring(words)));
  };
  refused("9223372036854775807", std::uint64_t(-5));
  refused("9223372036854775807", khs::Box<1>({0}, {std::uint64_t(-5)}));
  refused("-1294967296 iterations", -1294967296);  // was too large for an int
  refused("less than none", 9, {.chunk_rows = -1});
  refused("less than none", 9, {.slots = -1});
  double x[9], sum = 0;
  CHECK_THROWS_AS(khs::streamed_reduce("sum", -1, Sum(), sum, khs::read(a)), khs::Error);
  Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const bare(x, 9);
  CHECK_THROWS_MATCHES(khs::streamed_for("add", 8, Increase(), khs::read(c), khs::update(bare)),
                       khs::Error,
                       MessageMatches(ContainsSubstring("\"argument 2\" (9; 72 bytes) in Host")));
  CHECK_THROWS_MATCHES(
      khs::streamed_for("add", 9, Increase(), khs::read(a).touching(1.5), khs::update(b)),
      khs::Error, MessageMatches(ContainsSubstring("touch 1.5")));
  CHECK_THROWS_MATCHES(
      khs::streamed_chain("relax", 9, khs::steps(0, Sides(), khs::read(a), khs::write(a))),
      khs::Error, MessageMatches(ContainsSubstring("streamed_chain \"relax\": 0 steps")));
  CHECK(b(8) == 8);
}

namespace {
template <class Index>
struct AddOneAt {
  KOKKOS_FUNCTION void operator()(Index i, khs::Chunk<char*> x) const { x(i) += 1; }
};
template <class Index>
struct AddOneAtBoth {
  KOKKOS_FUNCTION void operator()(std::int64_t i, Index j, khs::Chunk<char**> x) const {
    x(i, j) += 1;
  }
};
struct CountAt {
  KOKKOS_FUNCTION void operator()(short, khs::Chunk<char const*>, int& count) const { ++count; }
};
struct TwiceAt {
  KOKKOS_FUNCTION void operator()(short i, khs::Chunk<char const*> x, khs::Chunk<char*> y) const {
    y(i) = char(2 * x(i));
  }
};
}  // namespace

TEST_CASE("a range that the body's integer cannot hold is refused, and no smaller one",
          "[streamed_limits]") {
  constexpr int most = std::numeric_limits<short>::max();
  Kokkos::View<char*, khs::MappedSpace> const a("a", most + 2), b("b", most + 2);
  Kokkos::View<char**, Kokkos::LayoutRight, khs::MappedSpace> const c("c", 2, 300);
  auto const refuses = MessageMatches(ContainsSubstring(
      "takes it as an integer of 2 bytes (which holds 32767 at most): let it take std::int64_t"));
  khs::streamed_for("at", most + 1, AddOneAt<short>(), khs::update(a)).fence();
  CHECK((a(most) == 1 && a(most + 1) == 0));
  CHECK_THROWS_MATCHES(khs::streamed_for("at", most + 2, AddOneAt<short>(), khs::update(a)),
                       khs::Error, refuses);
  CHECK_NOTHROW(khs::streamed_for("at", most + 2, AddOneAt<int>(), khs::update(a)).fence());
  CHECK_NOTHROW(
      khs::streamed_for("at", most + 2, AddOneAt<unsigned short>(), khs::update(a)).fence());
  CHECK_THROWS_MATCHES(
      khs::streamed_for("at", khs::Box<2>({2, 300}), AddOneAtBoth<std::uint8_t>(), khs::update(c)),
      khs::Error,
      MessageMatches(
          ContainsSubstring("in index 1, and the body takes it as an integer of 1 bytes")));
  int count = 0;
  CHECK_THROWS_MATCHES(khs::streamed_reduce("count", most + 2, CountAt(), count, khs::read(a)),
                       khs::Error, refuses);
  CHECK_THROWS_MATCHES(
      khs::streamed_chain("chain", most + 2, khs::stage(TwiceAt(), khs::read(a), khs::write(b))),
      khs::Error, refuses);
  CHECK_THROWS_MATCHES(
      khs::streamed_chain("steps", most + 2, khs::steps(2, TwiceAt(), khs::read(a), khs::write(b))),
      khs::Error, refuses);
}

TEST_CASE("a handle may be empty, moved, copied, and asked again", "[streamed_limits]") {
  Mapped const a = counted(9), b = counted(9);
  khs::StreamedLoop none,
      loop = khs::streamed_for("add", 9, Increase(), khs::read(a), khs::update(b));
  khs::StreamedLoop const copy = loop, moved = std::move(loop);
  for (auto const* each :
       std::initializer_list<khs::StreamedLoop const*>{&none, &copy, &moved, &moved}) {
    CHECK_NOTHROW(each->fence());
    CHECK(each->is_done());
    CHECK_FALSE(each->explain().empty());
  }
  CHECK(none.chunks() == 0);
  CHECK(copy.chunks() == moved.chunks());
  loop = none;
  CHECK(b(8) == 16);
}

TEST_CASE(
    "steps may begin with what a stage before them made, and end in what one behind them reads",
    "[streamed_limits]") {
  constexpr int n = 20, m = 5;
  Table const a("a", n, m), b("b", n, m);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) a(i, j) = 10 * i + j;
  khs::Intermediate<double**> made, stepped;
  khs::streamed_chain(
      "two steps", khs::StreamOptions<>{.chunk_rows = 6}, khs::Box<2>({1, 1}, {n, m - 1}),
      khs::stage(khs::Box<2>({0, 0}, {n, m}), PlusOne(), khs::read(a), khs::write(made)),
      khs::steps(2, Above(), khs::read(made, khs::halo(1)), khs::write(stepped)),
      khs::stage(khs::Box<2>({0, 0}, {n, m}), PlusOne(), khs::read(stepped), khs::write(b)))
      .fence();
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      int const steps       = j == 0 || j == m - 1 ? 0 : std::min(i, 2);
      double const expected = (1 << steps) * (a(i - steps, j) + 1) + 1;
      wrong += b(i, j) != expected;
    }
  CHECK(wrong == 0);
}

#ifndef KOKKOS_ENABLE_CUDA
TEST_CASE("on the host a chain goes in blocks that stay in the caches", "[streamed_limits]") {
  constexpr int n = 1 << 20;
  Mapped const a("a", n), b("b", n);
  auto const loop =
      khs::streamed_chain("sides", khs::Box<1>({1}, {n - 1}),
                          khs::steps(2, Sides(), khs::read(a, khs::halo(1)), khs::write(b)));
  CHECK(loop.chunk_rows() * std::int64_t(sizeof(double)) <= 1 << 20);
  CHECK(loop.chunks() >= 8);
}
#endif

TEST_CASE("indices beyond 32 bits are counted", "[streamed_limits]") {
  constexpr std::int64_t n = (std::int64_t(1) << 32) + 5, part = 5000;
  // Untouched pages take no memory.
  std::unique_ptr<char[]> const memory(new char[n]);
  using Bytes =
      Kokkos::View<char const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Bytes const bytes(memory.get(), std::size_t(n));
  for (std::int64_t const end : {n, (std::int64_t(1) << 31) + part / 2}) {
    std::fill_n(memory.get() + end - part, part, char(0));
    memory[std::size_t(end - 3)] = 2;
    std::int64_t sum             = 0;
    khs::streamed_reduce("bytes", khs::Box<1>({end - part}, {end}), SumOfBytes(),
                         Kokkos::Sum<std::int64_t>(sum), khs::read(bytes));
    CHECK(sum == 2 * (end - 3));
  }
}
