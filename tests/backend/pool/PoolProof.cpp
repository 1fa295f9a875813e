// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Proves of each allocation, in random operations of several threads, that it comes after all device
// work which could touch the memory's earlier owner, and after the graphs that keep it. Each stream
// counts the operations that were submitted and those that are done. A freed block stores the first
// count; the next allocation of that memory compares it with the second. KOKKOS_HOST_SPACES_TEST_ALLOCATIONS (operations of each thread) and
// _TEST_SEED change it.

#include "../../../backend/Driver.hpp"
#include "../../../backend/Error.hpp"
#include "../../../backend/Replays.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "PoolTest.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl::Backend;

namespace {

unsigned from_environment(char const* name, unsigned otherwise) {
  char const* const value = std::getenv(name);
  return value != nullptr ? static_cast<unsigned>(std::strtoul(value, nullptr, 10)) : otherwise;
}

struct Round {
  char const* name;
  std::size_t limit;  ///< of the pool; 0: none
  bool faults, old_driver, reserves;
};

// A stream that counts. Work that is submitted while another thread submits is not.
struct Lane {
  Lane(int device_of_stream, bool blocking)
      : device((cudaSetDevice(device_of_stream), device_of_stream)),
        stream(blocking ? DeviceWork::Stream::Kind::blocking
                        : DeviceWork::Stream::Kind::non_blocking) {}

  // With the mutex held.
  void submit(unsigned microseconds) {
    stream.run([this, microseconds] {
      if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
      ++done;
    });
    ++submitted;
  }

  int const device;
  DeviceWork::Stream stream;
  std::mutex mutex;
  std::atomic<std::size_t> submitted{0}, done{0};
};

// What is known of each address.
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

  // Call it before the deallocation.
  void given_back(char const* begin) {
    std::lock_guard const lock(m_mutex);
    note(begin, m_in_use.extract(begin).mapped().end);
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
    if (m_in_use.count(begin) == 0) note(begin, end);
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
  void note(char const* begin, char const* end) {
    auto const submitted = std::make_shared<std::vector<std::size_t>>();
    for (auto const& lane : m_lanes) submitted->push_back(lane->submitted);
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
  std::atomic<std::size_t> overdrawn{0}, broken_captures{0}, refused{0};
};

class Worker {
 public:
  Worker(Shared& shared, unsigned seed) : m_shared(shared), m_random(seed) {}

  void run(unsigned operations) {
    for (unsigned i = 0; i < operations; ++i) {
      try {
        step();
      } catch (Error const&) {
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
  };
  struct Graph {
    cudaGraphExec_t executable;
    char* kept;
  };

  unsigned any(std::size_t below) { return static_cast<unsigned>(m_random() % below); }
  bool one_of(unsigned count) { return any(count) == 0; }

  void step() {
    Round const& round  = m_shared.round;
    unsigned const what = any(100);
    if (what < 45 && m_blocks.size() < 40) return allocate();
    if (what < 80) return deallocate();
    if (what < 90) return submit();
    if (what < 92) return static_cast<void>(pool::trim(any(8 * MiB)));
    if (what < 94) return static_cast<void>(pool::statistics());
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
    std::size_t const bytes = 1 + any(most);
    auto const kind         = one_of(32) ? MemoryKind::write_combined : MemoryKind::page_locked;
    auto* const begin       = static_cast<char*>(
        Pool::allocate({bytes, kind, one_of(16) ? 0 : -1, "TestSpace", "proof"}));
    m_shared.proof.handed_out(begin, begin + bytes);
    m_blocks.push_back({begin, begin + bytes});
    std::size_t const limit = m_shared.round.limit;
    if (limit > 0 && Pools::existing()->ledger.locked() > limit) ++m_shared.overdrawn;
  }

  void deallocate() {
    submit();
    if (m_blocks.empty()) return;
    std::swap(m_blocks[any(m_blocks.size())], m_blocks.back());
    m_shared.proof.given_back(m_blocks.back().begin);
    Pool::deallocate(m_blocks.back().begin);
    m_blocks.pop_back();
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
    if (one_of(2)) deallocate();
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
    FakeCuda::fail_nth_call("*", 1 + any(20), one_of(2) ? FakeCuda::out_of_memory : 999);
  }

  Shared& m_shared;
  std::mt19937 m_random;
  std::vector<Block> m_blocks;
  std::vector<Graph> m_graphs;
};

}  // namespace

TEST_CASE("no hand-out of memory comes before the end of all work that could touch it") {
  constexpr int devices = 2;
  Round const round =
      GENERATE(Round{"no limit", 0, false, false, false},
               Round{"limit", 48 * MiB, false, false, true}, Round{"faults", 0, true, false, true},
               Round{"faults at a limit", 48 * MiB, true, false, false},
               Round{"old driver", 0, false, true, false},
               Round{"old driver at a limit", 48 * MiB, false, true, true});
  INFO(round.name);
  unsigned const operations = from_environment("KOKKOS_HOST_SPACES_TEST_ALLOCATIONS", 10000);
  unsigned const seed       = from_environment("KOKKOS_HOST_SPACES_TEST_SEED", 1);
  PoolTest const test(devices);
  if (round.old_driver) FakeCuda::use_old_driver();
  pool::set_limit(round.limit);
  Shared shared(round);
  for (unsigned i = 0; i < 3 * devices; ++i)
    shared.lanes.push_back(std::make_unique<Lane>(static_cast<int>(i % devices), i < devices));
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 6; ++i)
      threads.emplace_back([&, i] { Worker(shared, seed * 100 + i).run(operations); });
  }
  FakeCuda::fail_no_more();
  for (auto const& lane : shared.lanes) lane->stream.wait();
  CHECK(shared.proof.too_early == 0);
  CHECK(shared.proof.twice == 0);
  CHECK(shared.proof.taken_from_graphs == 0);
  CHECK(shared.overdrawn == 0);
  CHECK(shared.broken_captures == 0);
  CHECK(shared.proof.hand_outs > operations);
  CHECK(PoolTest::usage().bytes_in_use == 0);
  pool::set_limit(0);
  Pool::release_all();
  if (!round.faults) CHECK(FakeCuda::nothing_leaked());
}
