// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the pool says to be zero is zero: fresh pages, until somebody has had them.

#include "PoolTest.hpp"

#include <cmath>
#include <deque>
#include <limits>

namespace {

std::size_t dirty_of(void const* pointer, std::size_t bytes) {
  return std::min(Pool::dirty_bytes(pointer), bytes);
}

bool all_zero(char const* begin, std::size_t bytes) {
  return bytes == 0 || (*begin == 0 && std::memcmp(begin, begin + 1, bytes - 1) == 0);
}

// With nothing running, all that was given back is ready, if only the pool asks.
void make_ready() { pool::trim(std::numeric_limits<std::size_t>::max()); }

struct Seen {
  std::atomic<std::size_t> zero{0}, not_zero{0};  ///< bytes that were called zero; blocks that lied
  std::atomic<std::size_t> taken{0};              ///< blocks that somebody got while they were kept
};

// Blocks that were given back while a graph still writes into them.
class OfGraphs {
 public:
  explicit OfGraphs(Seen& seen) : m_seen(seen) {}
  ~OfGraphs() {
    while (!m_kept.empty()) let_go();
  }
  OfGraphs(OfGraphs const&)            = delete;
  OfGraphs& operator=(OfGraphs const&) = delete;

  void give_back(char* begin, std::size_t bytes) {
    m_kept.push_back({Pool::keep(begin + bytes / 2).handle, begin, bytes});
    Pool::deallocate(begin);
    std::memset(begin, written, bytes);
    if (m_kept.size() > 20) let_go();
  }

 private:
  static constexpr char written = 0x55;
  struct Kept {
    void* piece;
    char* begin;
    std::size_t bytes;
  };
  void let_go() {
    auto const [piece, begin, bytes] = m_kept.front();
    m_kept.pop_front();
    if (piece == nullptr || std::count(begin, begin + bytes, written) != std::ptrdiff_t(bytes))
      ++m_seen.taken;
    Pool::let_go(piece);
  }

  Seen& m_seen;
  std::deque<Kept> m_kept;
};

// Has blocks of all sizes, checks and spoils them, and gives them back in any order, some while a
// graph keeps them.
void take_and_spoil(unsigned seed, int operations, Seen& seen) {
  struct Block {
    char* begin;
    std::size_t bytes;
  };
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(0, 20);
  std::vector<Block> blocks;
  OfGraphs graphs(seen);
  for (int i = 0; i < operations; ++i) {
    if (blocks.empty() || (blocks.size() < 40 && random() % 2 == 0)) {
      auto const bytes         = static_cast<std::size_t>(std::exp2(exponent(random)));
      char* const begin        = PoolTest::allocate(bytes);
      std::size_t const header = std::min<std::size_t>(bytes, random() % 2 * 128);
      std::memset(begin, 1, header);
      std::size_t const dirty = header + dirty_of(begin + header, bytes - header);
      if (!all_zero(begin + dirty, bytes - dirty)) ++seen.not_zero;
      seen.zero += bytes - dirty;
      std::memset(begin, 0xff, bytes);
      blocks.push_back({begin, bytes});
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      if (random() % 4 == 0)
        graphs.give_back(blocks.back().begin, blocks.back().bytes);
      else
        Pool::deallocate(blocks.back().begin);
      blocks.pop_back();
    }
    if (i % 1000 == 999) pool::trim(random() % 2 * MiB);
    if (i % 1000 == 499) Pool::reserve(8 * MiB, MemoryKind::page_locked, -1, 4 * MiB).wait();
  }
  for (Block const& block : blocks) Pool::deallocate(block.begin);
}

}  // namespace

TEST_CASE("what is called zero is zero, whoever had what lies beside it") {
  PoolTest const test(1);
  Seen seen;
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed)
      threads.emplace_back(take_and_spoil, seed, 2500, std::ref(seen));
  }
  CHECK(seen.not_zero == 0);
  CHECK(seen.taken == 0);
  CHECK(seen.zero > 10 * MiB);
}

TEST_CASE("fresh memory is zero for its first user, who is told so once") {
  PoolTest const test(1);
  for (std::size_t bytes : {std::size_t(100), 20 * KiB, 100 * KiB, 20 * MiB}) {
    char* const block = PoolTest::allocate(bytes);
    CHECK(dirty_of(block, bytes) == 0);
    CHECK(dirty_of(block, bytes) == bytes);
    Pool::deallocate(block);
    make_ready();
    char* const again = PoolTest::allocate(bytes);
    CHECK(again == block);
    CHECK(dirty_of(again, bytes) == bytes);
    CHECK(dirty_of(again + 128, bytes) == bytes);
    Pool::deallocate(again);
  }
}

TEST_CASE("memory that was reserved, and is new after a trim, is zero") {
  PoolTest const test(1);
  for (int round = 0; round < 2; ++round) {
    Pool::reserve(32 * MiB, MemoryKind::page_locked, -1, 32 * MiB).wait();
    std::size_t const misses = PoolTest::usage().misses;
    char* const a            = PoolTest::allocate(MiB);
    char* const b            = PoolTest::allocate(31 * MiB);
    CHECK(PoolTest::usage().misses == misses);
    CHECK(dirty_of(a, MiB) == 0);
    CHECK(dirty_of(b, 31 * MiB) == 0);
    CHECK(all_zero(b, 31 * MiB));
    Pool::deallocate(a);
    make_ready();
    char* const c = PoolTest::allocate(MiB);
    CHECK(c == a);
    CHECK(dirty_of(c, MiB) == MiB);
    Pool::deallocate(b);
    Pool::deallocate(c);
    CHECK(pool::trim(0) >= 32 * MiB);
  }
}

TEST_CASE("of memory that the driver gave, or that is not the pool's, nothing is called zero") {
  PoolTest const test(1);
  bool const from_driver = Driver::device_count() > 0;
  for (std::size_t bytes : {std::size_t(100), 100 * KiB, 3 * MiB}) {
    auto* const block =
        static_cast<char*>(Pool::allocate({.bytes = bytes, .kind = MemoryKind::write_combined}));
    CHECK(dirty_of(block, bytes) == (from_driver ? bytes : 0));
    Pool::deallocate(block);
  }
  std::vector<char> const other(10000);
  CHECK(dirty_of(other.data(), other.size()) == other.size());
  CHECK(dirty_of(nullptr, 1) == 1);
}

TEST_CASE("memory that is scrubbed shows nothing of its last owner", "[.][scrub]") {
  PoolTest const test;
  for (std::size_t const bytes : {std::size_t(64), std::size_t(4000), 300 * KiB, 2 * MiB, 20 * MiB})
    for (int round = 0; round < 4; ++round) {
      char* const block = PoolTest::allocate(bytes - std::size_t(round));
      REQUIRE(all_zero(block, bytes - std::size_t(round)));
      std::memset(block, 0x5a, bytes - std::size_t(round));
      Pool::deallocate(block);
      if (round % 2 == 0) make_ready();
    }
}
