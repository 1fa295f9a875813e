// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Proves of each allocation, in random operations of several threads, that it comes after all device
// work which could touch its earlier owner's data, and after the graphs that keep it. Each stream
// counts the operations that were submitted and those that are done. A freed block stores the first
// count, of all streams or of the one that it waits for; the next allocation of that memory compares it
// with the second. Device work also checks that it finds what the owner of its block has written.
// KOKKOS_HOST_SPACES_TEST_ALLOCATIONS sets the operations of a round (all threads together),
// KOKKOS_HOST_SPACES_TEST_SEED the seed.

#include "../../../backend/Replays.hpp"
#include "../../support/AllocationHook.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "PoolTest.hpp"

namespace {

unsigned from_environment(char const* name, unsigned otherwise) {
  char const* const value = std::getenv(name);
  return value != nullptr ? static_cast<unsigned>(std::strtoul(value, nullptr, 10)) : otherwise;
}

struct Round {
  char const* name;
  std::size_t limit = 0;  ///< of the pool; 0: none
  bool faults       = false;
  bool old_driver   = false;
  bool reserves     = false;
  unsigned threads  = 6;
  int devices       = 2;
};

// A stream that counts its work. A thread that finds the mutex locked submits nothing.
struct Lane {
  Lane(int device_of_stream, bool blocking)
      : device((cudaSetDevice(device_of_stream), device_of_stream)),
        stream(blocking ? DeviceWork::Stream::Kind::blocking
                        : DeviceWork::Stream::Kind::non_blocking) {}

  // With the mutex held.
  void submit(
      unsigned microseconds, std::function<void()> work = [] {}) {
    stream.run([this, microseconds, work = std::move(work)] {
      if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
      work();
      ++done;
    });
    ++submitted;
  }

  int const device;
  DeviceWork::Stream stream;
  std::mutex mutex;
  std::atomic<std::size_t> submitted{0}, done{0};
};

// What is known of each address: in use, given back, or kept by graphs.
class Proof {
 public:
  explicit Proof(std::vector<std::unique_ptr<Lane>>& lanes) : m_lanes(lanes) {}

  void handed_out(char const* begin, char const* end) {
    std::lock_guard const lock(m_mutex);
    ++hand_outs;
    for_each_in(m_given_back, begin, end, [&](GivenBack const& before) {
      for (std::size_t i = 0; i < m_lanes.size(); ++i)
        if (m_lanes[i]->done < (*before.submitted)[i]) ++too_early;
    });
    for_each_in(m_in_use, begin, end, [&](InUse const&) { ++twice; });
    for_each_in(m_kept, begin, end, [&](Kept const&) { ++taken_from_graphs; });
    forget(m_given_back, begin, end);
    m_in_use[begin] = {end};
  }

  // Call it before the deallocation. `only` is the stream whose work alone uses the memory.
  void given_back(char const* begin, Lane const* only = nullptr) {
    std::lock_guard const lock(m_mutex);
    note(begin, m_in_use.extract(begin).mapped().end, only);
  }

  void kept(char const* begin, char const* end) {
    std::lock_guard const lock(m_mutex);
    Kept& kept = m_kept[begin];
    kept.end   = end;
    ++kept.graphs;
  }

  // Call it before the graph is destroyed.
  void let_go(char const* begin) {
    std::lock_guard const lock(m_mutex);
    auto const kept       = m_kept.find(begin);
    char const* const end = kept->second.end;
    if (--kept->second.graphs > 0) return;
    m_kept.erase(kept);
    if (m_in_use.count(begin) == 0) note(begin, end, nullptr);
  }

  std::size_t hand_outs = 0, too_early = 0, twice = 0, taken_from_graphs = 0;

 private:
  using Counts = std::shared_ptr<std::vector<std::size_t>>;
  struct GivenBack {
    char const* end;
    Counts submitted;
  };
  struct InUse {
    char const* end;
  };
  struct Kept {
    char const* end;
    int graphs = 0;
  };

  // The first entry that ends behind `begin`.
  template <class Map>
  static auto first_in(Map& map, char const* begin) {
    auto entry = map.upper_bound(begin);
    if (entry != map.begin() && std::prev(entry)->second.end > begin) --entry;
    return entry;
  }
  template <class Map, class F>
  static void for_each_in(Map& map, char const* begin, char const* end, F f) {
    for (auto entry = first_in(map, begin); entry != map.end() && entry->first < end; ++entry)
      f(entry->second);
  }
  void forget(std::map<char const*, GivenBack>& map, char const* begin, char const* end) {
    for (auto entry = first_in(map, begin); entry != map.end() && entry->first < end;) {
      auto const [from, before] = *entry;
      entry                     = map.erase(entry);
      if (from < begin) map[from] = {begin, before.submitted};
      if (before.end > end) map[end] = before;
    }
  }
  void note(char const* begin, char const* end, Lane const* only) {
    auto const submitted = std::make_shared<std::vector<std::size_t>>();
    for (auto const& lane : m_lanes)
      submitted->push_back(only == nullptr || lane.get() == only ? lane->submitted.load() : 0);
    forget(m_given_back, begin, end);
    m_given_back[begin] = {end, submitted};
  }

  std::vector<std::unique_ptr<Lane>>& m_lanes;
  std::mutex m_mutex;
  std::map<char const*, GivenBack> m_given_back;
  std::map<char const*, InUse> m_in_use;
  std::map<char const*, Kept> m_kept;
};

struct Shared {
  explicit Shared(Round const& what) : round(what) {}

  Round const round;
  std::vector<std::unique_ptr<Lane>> lanes;
  Proof proof{lanes};
  std::atomic<std::size_t> overdrawn{0}, broken_captures{0}, refused{0}, overwritten{0},
      misplaced{0}, bad_children{0};
};

class Worker {
 public:
  Worker(Shared& shared, unsigned seed) : m_shared(shared), m_random(seed) {
    m_blocks.reserve(most_blocks);  // run_out_of_heap must not fail here
  }

  void run(unsigned operations) {
    for (unsigned i = 0; i < operations; ++i) {
      try {
        step();
      } catch (Error const&) {
        ++m_shared.refused;
      } catch (std::bad_alloc const&) {
        ++m_shared.refused;
      }
    }
    while (!m_graphs.empty()) end_graph();
    while (!m_blocks.empty()) deallocate();
  }

 private:
  struct Block {
    char* begin;
    char* end;
    std::uint64_t tag;  ///< what its owner has written
    Lane* only;         ///< whose work alone uses it; nullptr: that of all
  };
  struct Graph {
    cudaGraphExec_t executable;
    char* kept;
  };

  static constexpr std::size_t most_blocks = 40;

  unsigned any(std::size_t below) { return static_cast<unsigned>(m_random() % below); }
  bool one_of(unsigned count) { return any(count) == 0; }

  void step() {
    Round const& round  = m_shared.round;
    unsigned const what = any(100);
    if (what < 45 && m_blocks.size() < most_blocks) return allocate();
    if (what < 80) return deallocate();
    if (what < 90) return submit();
    if (what < 92) return static_cast<void>(pool::trim(any(8 * MiB)));
    if (what < 93) return static_cast<void>(pool::statistics());
    if (what < 94)
      return one_of(10) ? one_of(2) ? deallocate_twice() : fork_child() : run_out_of_heap();
    if (what < 96) return round.faults ? fail() : capture();
    if (what < 98) return one_of(2) ? launch() : end_graph();
    if (round.reserves && one_of(50))
      Pool::reserve(any(16 * MiB), MemoryKind::page_locked, -1, MiB);
  }

  void allocate() {
    std::size_t const most  = one_of(100) ? 32 * MiB
                              : one_of(8) ? 3 * MiB
                              : one_of(3) ? 64 * KiB
                                          : 4 * KiB;
    std::size_t const bytes = sizeof(std::uint64_t) + any(most);
    auto const kind         = one_of(32) ? MemoryKind::write_combined : MemoryKind::page_locked;
    int const node          = one_of(16) ? 0 : -1;
    auto* const begin =
        static_cast<char*>(Pool::allocate({bytes, kind, node, "TestSpace", "proof"}));
    m_shared.proof.handed_out(begin, begin + bytes);
    std::uint64_t const tag                           = m_random();
    *reinterpret_cast<std::uint64_t volatile*>(begin) = tag;
    m_blocks.push_back({begin, begin + bytes, tag, one_of(3) ? &any_lane() : nullptr});
    Pools& pools = *Pools::existing();
    if (one_of(8)) {
      auto const& right = pools.of(kind, node).heaps;
      pools.at(begin, [&](Heap const& heap, auto const& block) {
        bool const bound =
            block.segment->region.numa_node == node || block.segment->region.numa_node == -1;
        if (!bound || &heap < right.begin() || &heap >= right.end()) ++m_shared.misplaced;
      });
    }
    std::size_t const limit = m_shared.round.limit;
    if (limit > 0 && pools.ledger.locked() > limit) ++m_shared.overdrawn;
  }

  // An allocation of host memory by the pool fails. The fake runtime and the proof allocate fewer bytes at once.
  void run_out_of_heap() {
    if (m_blocks.size() == most_blocks) return;
    AllocationHook const hook(1 + any(2), 300, [] { throw std::bad_alloc(); });
    allocate();
  }

  Block take_block() {
    std::swap(m_blocks[any(m_blocks.size())], m_blocks.back());
    Block const block = m_blocks.back();
    m_blocks.pop_back();
    return block;
  }

  // Work that reads the block, as a copy from it does.
  std::function<void()> reads(Block const& block) {
    return [&shared = m_shared, block] {
      if (*reinterpret_cast<std::uint64_t volatile*>(block.begin) != block.tag)
        ++shared.overwritten;
    };
  }

  void deallocate() {
    if (m_blocks.empty()) return submit();
    Block const block = take_block();
    Lane& lane        = block.only != nullptr ? *block.only : any_lane();
    std::unique_lock const lock(lane.mutex, std::try_to_lock);
    if (lock.owns_lock()) lane.submit(one_of(16) ? any(2000) : 0, reads(block));
    if (block.only != nullptr && lock.owns_lock()) {
      m_shared.proof.given_back(block.begin, &lane);
      Pool::deallocate_on({lane.stream.get(), lane.device}, block.begin);
    } else {
      m_shared.proof.given_back(block.begin);
      Pool::deallocate(block.begin);
    }
  }

  // While work runs the block is not handed out again, so freeing it twice is refused.
  void deallocate_twice() {
    Lane& lane = any_lane();
    std::unique_lock const lock(lane.mutex, std::try_to_lock);
    if (!lock.owns_lock() || m_blocks.empty()) return;
    Block const block = take_block();
    DeviceWork::Gate gate;
    lane.submit(0, gate.hold());
    bool const by_stream = one_of(2);
    m_shared.proof.given_back(block.begin, by_stream ? &lane : nullptr);
    if (by_stream) Pool::deallocate_on({lane.stream.get(), lane.device}, block.begin);
    for (int i = by_stream; i < 2; ++i) Pool::deallocate(block.begin);
  }

  void fork_child() {
    int const status = ChildOfFork::status([&] {
      for (Block const& block : m_blocks) Pool::deallocate(block.begin);
      pool::trim(0);
      // AddressSanitizer's heap may be locked for ever in a child, and an exception needs some.
      if (sanitized) return 0;
      try {
        Pool::allocate({1, MemoryKind::page_locked, -1, "TestSpace", "child"});
      } catch (Error const&) {
        return 0;
      }
      return 1;
    });
    if (status != 0) ++m_shared.bad_children;
  }

  Lane& any_lane() { return *m_shared.lanes[any(m_shared.lanes.size())]; }

  void submit() {
    Lane& lane = any_lane();
    std::unique_lock const lock(lane.mutex, std::try_to_lock);
    if (lock.owns_lock()) lane.submit(one_of(16) ? any(2000) : 0);
  }

  void capture() {
    Lane& lane = any_lane();
    std::unique_lock const lock(lane.mutex, std::try_to_lock);
    if (!lock.owns_lock() || m_blocks.empty()) return;
    Block const block = m_blocks[any(m_blocks.size())];
    cudaSetDevice(lane.device);
    Driver::announce_capture();
    lane.stream.begin_capture(one_of(2) ? cudaStreamCaptureModeRelaxed
                                        : cudaStreamCaptureModeGlobal);
    retain_for_graph(lane.stream.get(), block.begin, nullptr);
    m_shared.proof.kept(block.begin, block.end);
    if (one_of(2)) {  // on the stream that captures: waits for all work
      Block const other = take_block();
      m_shared.proof.given_back(other.begin);
      Pool::deallocate_on({lane.stream.get(), lane.device}, other.begin);
    }
    cudaGraph_t const graph = lane.stream.end_capture_with_graph();
    Driver::end_announced_capture();
    if (graph == nullptr) {
      ++m_shared.broken_captures;
      return;
    }
    m_graphs.push_back({nullptr, block.begin});
    cudaGraphInstantiate(&m_graphs.back().executable, graph, 0ULL);
    cudaGraphDestroy(graph);
  }

  void launch() {
    Lane& lane = any_lane();
    std::unique_lock const lock(lane.mutex, std::try_to_lock);
    if (!lock.owns_lock() || m_graphs.empty()) return;
    lane.submit(any(500));
    cudaGraphLaunch(m_graphs.back().executable, lane.stream.get());
    lane.submit(0);
  }

  void end_graph() {
    if (m_graphs.empty()) return;
    m_shared.proof.let_go(m_graphs.back().kept);
    cudaGraphExecDestroy(m_graphs.back().executable);
    m_graphs.pop_back();
  }

  void fail() {
    char const* const call = one_of(8) ? "cudaHostUnregister" : one_of(4) ? "cuEventQuery" : "*";
    FakeCuda::fail_nth_call(call, 1 + any(*call == '*' ? 20 : 2),
                            one_of(2) ? FakeCuda::out_of_memory : 999);
  }

  Shared& m_shared;
  std::mt19937 m_random;
  std::vector<Block> m_blocks;
  std::vector<Graph> m_graphs;
};

}  // namespace

TEST_CASE("no hand-out of memory comes before the end of all work that could touch it") {
  Round const round = GENERATE(
      Round{.name = "no limit"},  //
      Round{.name = "limit", .limit = 48 * MiB, .reserves = true},
      Round{.name = "faults", .faults = true, .reserves = true},
      Round{.name = "faults at a limit", .limit = 48 * MiB, .faults = true},
      Round{.name = "old driver", .old_driver = true},
      Round{
          .name = "old driver at a limit", .limit = 48 * MiB, .old_driver = true, .reserves = true},
      Round{.name = "one thread", .reserves = true, .threads = 1, .devices = 1},
      Round{.name = "64 threads", .threads = 64},
      Round{.name = "four devices at a limit", .limit = 192 * MiB, .threads = 16, .devices = 4});
  INFO(round.name);
  unsigned const operations = from_environment("KOKKOS_HOST_SPACES_TEST_ALLOCATIONS", 20000);
  unsigned const seed       = from_environment("KOKKOS_HOST_SPACES_TEST_SEED", 1);
  PoolTest const test(round.devices);
  if (round.old_driver) FakeCuda::use_old_driver();
  pool::set_limit(round.limit);
  Shared shared(round);
  for (int i = 0; i < 3 * round.devices; ++i)
    shared.lanes.push_back(std::make_unique<Lane>(i % round.devices, i < round.devices));
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < round.threads; ++i)
      threads.emplace_back(
          [&, i] { Worker(shared, seed * 100 + i).run(operations / round.threads); });
  }
  FakeCuda::fail_no_more();
  for (auto const& lane : shared.lanes) lane->stream.wait();
  CHECK(shared.proof.too_early == 0);
  CHECK(shared.proof.twice == 0);
  CHECK(shared.proof.taken_from_graphs == 0);
  CHECK(shared.overwritten == 0);
  CHECK(shared.overdrawn == 0);
  CHECK(shared.misplaced == 0);
  CHECK(shared.broken_captures == 0);
  CHECK(shared.bad_children == 0);
  CHECK(shared.proof.hand_outs > operations / 6);
  CHECK(PoolTest::usage().bytes_in_use == 0);
  CHECK(FakeCuda::registrations_are_mapped());
  Ledger const& ledger = Pools::existing()->ledger;
  Pool::deallocate(PoolTest::allocate(1));  // what could not be locked waits for it
  // Reservations go on behind those who made them.
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (ledger.in_transit() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  CHECK_FALSE(ledger.in_transit());
  CHECK(ledger.locked() <= FakeCuda::outstanding().pinned_bytes);
  // Memory of the driver has a page more.
  CHECK(FakeCuda::outstanding().pinned_bytes <=
        ledger.locked() + FakeCuda::outstanding().pinned_allocations * 4 * KiB);
  pool::set_limit(0);
  Pool::release_all();
  if (!round.faults) CHECK(FakeCuda::nothing_leaked());
  if (!round.faults) CHECK(ledger.locked() == 0);
}
