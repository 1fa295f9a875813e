// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// One model of what the pool promises: users do random things with it, and compare each block, all sums, what is called
// zero, and each refusal with what must be.

#include "../../support/LimitModel.hpp"
#include "PoolTest.hpp"

#include <deque>
#include <iterator>

namespace {

struct Mix {
  std::size_t largest = 18 * MiB;
  bool limited        = false;  ///< limits are set, and refusals judged
  bool alone          = true;   ///< no other thread uses the pool: all sums are known
};

bool all_are(char value, char const* begin, std::size_t bytes) {
  return bytes == 0 || (*begin == value && std::memcmp(begin, begin + 1, bytes - 1) == 0);
}

// Of a large block the model uses both ends: touching pages takes most of its time.
std::size_t end_of(std::size_t bytes) { return bytes <= 256 * KiB ? bytes : 32 * KiB; }

bool ends_are(char value, char const* begin, std::size_t bytes) {
  std::size_t const end = end_of(bytes);
  return all_are(value, begin, end) && all_are(value, begin + bytes - end, end);
}

void fill_ends(char* begin, std::size_t bytes, char value) {
  std::memset(begin, value, end_of(bytes));
  std::memset(begin + bytes - end_of(bytes), value, end_of(bytes));
}

class User {
 public:
  User(unsigned seed, Mix const& mix) : m_random(seed), m_mix(mix) {}

  void run(int operations) {
    for (m_operation = 0; m_operation < operations; ++m_operation) {
      step();
      if (m_mix.alone) check_sums();
    }
    deallocate_all();
  }

  std::string wrong;     ///< what did not hold first
  std::size_t zero = 0;  ///< bytes that were called zero

 private:
  struct Held {
    std::size_t bytes;
    MemoryKind kind;
    char value;         ///< of its bytes
    std::size_t space;  ///< of two
  };
  using Blocks = std::map<char*, Held>;
  struct Kept {  ///< by a graph, which still writes
    void* handle;
    char* begin;
    std::size_t bytes, space;
  };

  static constexpr char const* spaces[] = {"SpaceA", "SpaceB"};
  static constexpr char of_graph        = 0x55;

  void expect(bool holds, char const* what) {
    if (!holds && wrong.empty())
      wrong = what + (" (operation " + std::to_string(m_operation) + ")");
  }
  std::size_t any(std::size_t below) { return m_random() % below; }

  void step() {
    auto const what = any(16);
    if (what == 0 && m_mix.limited) return set_limit();
    if (what == 0) return reserve();
    if (what == 1 && m_mix.alone && any(2) == 0) return deallocate_all();
    if (what == 1) return trim();
    if (what < 6 && !m_held.empty()) return deallocate();
    if (what == 6 && !m_mix.limited && !m_held.empty()) return deallocate_beside_a_graph();
    if (m_held.size() < 40) allocate();
  }

  std::size_t size() {
    if (any(3) == 0) return 1 + any(64 * KiB);
    if (m_mix.limited) return 1 + any(m_mix.largest);
    std::uniform_real_distribution<double> exponent(0, std::log2(m_mix.largest));
    return static_cast<std::size_t>(std::exp2(exponent(m_random)));
  }

  void allocate() {
    std::size_t const bytes = size();
    auto const kind         = any(3) == 0 ? MemoryKind::write_combined : MemoryKind::page_locked;
    bool const must_serve   = m_model.must_serve(bytes);
    if (take(bytes, kind)) return m_model.allocated(bytes);
    expect(!must_serve, "what fits under the limit is served");
    trim();
    expect(PoolTest::usage().bytes_locked + LimitModel::rounded(bytes) > m_limit,
           "what would fit if all unused memory were given back is served");
    expect(!take(bytes, kind), "what is refused twice is refused for a reason");
  }

  bool take(std::size_t bytes, MemoryKind kind) {
    std::size_t const space = any(2);
    char* begin             = nullptr;
    try {
      begin = static_cast<char*>(Pool::allocate({bytes, kind, -1, spaces[space], "of the model"}));
    } catch (OutOfPinnedMemory const&) {
      expect(m_mix.limited, "without a limit nothing is refused");
      return false;
    }
    expect(reinterpret_cast<std::uintptr_t>(begin) % 256 == 0, "a block is aligned");
    auto const next = m_held.lower_bound(begin);
    expect((next == m_held.end() || begin + bytes <= next->first) &&
               (next == m_held.begin() ||
                std::prev(next)->first + std::prev(next)->second.bytes <= begin),
           "blocks do not overlap");
    std::size_t const front = any(2) * std::min<std::size_t>(bytes, 128);  // as Kokkos' header
    std::memset(begin, 1, front);
    std::size_t const dirty = front + std::min(Pool::dirty_bytes(begin + front), bytes - front);
    expect(ends_are(0, begin + dirty, bytes - dirty), "what is called zero is zero");
    expect(Pool::dirty_bytes(begin) >= bytes, "what is zero is told once");
    zero += bytes - dirty;
    auto const value = static_cast<char>(1 + any(127));
    fill_ends(begin, bytes, value);
    auto const told = pool::describe(begin + any(bytes));
    expect(told && told->bytes == bytes && told->kind == kind && told->label == "of the model" &&
               told->space == spaces[space] && told->state == pool::State::in_use,
           "a block is described from any address in it");
    m_held[begin] = {bytes, kind, value, space};
    return true;
  }

  Blocks::node_type extract_any() {
    auto block = m_held.extract(std::next(m_held.begin(), std::ptrdiff_t(any(m_held.size()))));
    expect(ends_are(block.mapped().value, block.key(), block.mapped().bytes),
           "no other thread writes to a block");
    m_model.deallocated(block.mapped().bytes);
    return block;
  }

  void deallocate() {
    auto const block = extract_any();
    Pool::deallocate(block.key());
    if (!m_mix.alone) return;
    auto const told = pool::describe(block.key());
    expect(!told || told->state != pool::State::in_use, "what was deallocated is not in use");
  }

  void deallocate_beside_a_graph() {
    auto const block        = extract_any();
    std::size_t const bytes = block.mapped().bytes;
    m_kept.push_back(
        {Pool::keep(block.key() + any(bytes)).handle, block.key(), bytes, block.mapped().space});
    expect(m_kept.back().handle != nullptr, "a graph keeps a block by any address in it");
    Pool::deallocate(block.key());
    fill_ends(block.key(), bytes, of_graph);
    if (m_kept.size() > 10) let_go();
  }

  void let_go() {
    Kept const kept = m_kept.front();
    m_kept.pop_front();
    expect(ends_are(of_graph, kept.begin, kept.bytes), "nobody gets what a graph keeps");
    Pool::let_go(kept.handle);
  }

  void deallocate_all() {
    while (!m_held.empty()) deallocate();
    while (!m_kept.empty()) let_go();
    if (!m_mix.alone) return;
    trim();
    pool::Usage const now = PoolTest::usage();
    expect(now.bytes_in_use == 0 && now.bytes_locked == 0 && now.segments == 0,
           "what nobody uses can be given back");
  }

  void trim() {
    pool::trim(m_mix.alone ? 0 : any(2) * MiB);
    m_model.trimmed();
  }

  void reserve() {
    if (any(8) == 0) PoolTest::reserve(8 * MiB, 4 * MiB).wait();
  }

  void set_limit() {
    m_limit = any(4) == 0 ? 0 : 16 * MiB + any(5 * m_mix.largest);
    pool::set_limit(m_limit);
    m_model.set_limit(m_limit);
    m_locked_before = PoolTest::usage().bytes_locked;
  }

  void check_sums() {
    std::size_t blocks[2] = {}, bytes[2] = {};
    for (auto const& [begin, held] : m_held) {
      ++blocks[held.space];
      bytes[held.space] += held.bytes;
    }
    for (Kept const& kept : m_kept) {
      ++blocks[kept.space];
      bytes[kept.space] += kept.bytes;
    }
    pool::Statistics const now = pool::statistics();
    pool::Usage const& total   = now.total;
    expect(total.bytes_asked == bytes[0] + bytes[1], "all that was asked for is counted");
    m_most = std::max(m_most, total.bytes_in_use);
    expect(total.bytes_in_use >= total.bytes_asked && total.bytes_high_water == m_most,
           "what is in use is no less than was asked for, and the most of it is told");
    expect(total.bytes_in_use + total.bytes_retired + total.bytes_cached == total.bytes_locked,
           "what is locked is in use, retired or cached");
    expect(m_limit == 0 || total.bytes_locked <= std::max(m_limit, m_locked_before),
           "no more is locked than the limit allows");
    expect((total.segments > 0) == (total.bytes_locked > 0), "what is locked is in segments");
    for (pool::SpaceUsage const& space : now.spaces)
      for (std::size_t i : {0, 1})
        expect(space.space != spaces[i] ||
                   (space.blocks == blocks[i] && space.bytes_asked == bytes[i]),
               "blocks are counted by memory space");
  }

  std::mt19937 m_random;
  Mix const m_mix;
  int m_operation = 0;
  LimitModel m_model{2};
  std::size_t m_limit = 0, m_locked_before = 0, m_most = PoolTest::usage().bytes_high_water;
  Blocks m_held;
  std::deque<Kept> m_kept;
};

}  // namespace

TEST_CASE("whatever one user does, blocks, sums and zeros are right, and nothing is refused") {
  PoolTest const test(1);
  unsigned const seed = GENERATE(range(0U, 6U));
  CAPTURE(seed);
  User user(seed, {});
  user.run(300);
  CHECK(user.wrong == "");
  CHECK(user.zero > 10 * MiB);
}

TEST_CASE("under a limit nothing is refused that must be served, and nothing that would fit") {
  PoolTest const test;
  unsigned const seed = GENERATE(range(0U, 12U));
  CAPTURE(seed);
  User user(seed, {.largest = (seed % 3 + 1) * 6 * MiB, .limited = true});
  user.run(120);
  CHECK(user.wrong == "");
}

TEST_CASE("threads get blocks of their own, and zeros, and leave nothing") {
  PoolTest const test(1);
  int const threads = GENERATE(4, 64);
  std::vector<User> users;
  for (int t = 0; t < threads; ++t)
    users.emplace_back(unsigned(t), Mix{.largest = MiB, .alone = false});
  in_threads(threads, [&](int t) { users[std::size_t(t)].run(6000 / threads); });
  for (User const& user : users) CHECK(user.wrong == "");
  CHECK(PoolTest::usage().bytes_in_use == 0);
  pool::trim(0);
  CHECK(PoolTest::usage().bytes_locked == 0);
}
