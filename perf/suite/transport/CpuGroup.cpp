// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The part of the group transport that reads and writes host memory by the threads of a NUMA node, as Comm|Scope
// does: what a kind of memory costs the host.

#include "../../plain/Numbers.hpp"
#include "../../support/System.hpp"
#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "../copy/CopyMemory.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <sched.h>

namespace KokkosHostSpaces::Perf {
namespace {

// The cores of a node that this process may use; empty if the node does not exist.
cpu_set_t cores_of(int node) {
  std::string const file = "/sys/devices/system/node/node" + std::to_string(node) + "/cpulist";
  cpu_set_t allowed, cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int const core : numbers_of_list(first_line(file)))
    if (core < CPU_SETSIZE && CPU_ISSET(core, &allowed)) CPU_SET(core, &cores);
  return cores;
}

/// Reads or writes an array by a thread on each core of a node, at most 16.
template <class Space>
class CpuPair final : public Pair {
 public:
  CpuPair(int node, bool writes, std::size_t bytes)
      : m_cores(cores_of(node)),
        m_threads(std::clamp(CPU_COUNT(&m_cores), 1, 16)),
        m_writes(writes),
        m_count(bytes / sizeof(std::uint64_t)),
        m_memory(bytes / sizeof(double)) {
    for (std::uint64_t* numbers : {ours(), plain()}) m_expected = fill(numbers, m_count);
    m_label =
        std::to_string(m_threads) + " threads, memory of " +
        (plain_kind<Space> == PlainKind::pageable || !runs_on_device ? "malloc" : "cudaHostAlloc");
  }

  double time_ours() override { return time(ours(), m_wrong); }
  double time_baseline() override { return time(plain(), m_wrong_baseline); }
  std::string find_error() override { return describe_wrong(m_wrong, m_wrong_baseline); }
  void damage() override {
    ours()[0] ^= 1;
    if (m_writes)
      m_wrong += ours()[0] != number_at(0);
    else
      time_ours();
  }

 private:
  std::uint64_t* ours() const { return reinterpret_cast<std::uint64_t*>(m_memory.ours()); }
  std::uint64_t* plain() const { return reinterpret_cast<std::uint64_t*>(m_memory.plain()); }

  // From the moment when all threads run until the last is done.
  double time(std::uint64_t* numbers, std::int64_t& wrong) {
    std::vector<std::uint64_t> sums(std::size_t(m_threads), 0);
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    Clock::time_point begin;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < m_threads; ++t)
        threads.emplace_back([&, t] {
          sched_setaffinity(0, sizeof m_cores, &m_cores);
          std::size_t const first = m_count * std::size_t(t) / std::size_t(m_threads);
          std::size_t const last  = m_count * std::size_t(t + 1) / std::size_t(m_threads);
          ++ready;
          while (!go) std::this_thread::yield();
          std::uint64_t sum = 0;
          if (m_writes)
            for (std::size_t i = first; i < last; ++i) numbers[i] = number_at(i);
          else
            for (std::size_t i = first; i < last; ++i) sum += numbers[i];
          sums[std::size_t(t)] = sum;
        });
      while (ready < m_threads) std::this_thread::yield();
      begin = Clock::now();
      go    = true;
    }
    double const seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::uint64_t sum    = 0;
    for (std::uint64_t part : sums) sum += part;
    // Of a write some numbers: to read all of write-combined memory takes seconds.
    for (std::size_t i = 0; m_writes && i < m_count; i += m_count / 64)
      wrong += numbers[i] != number_at(i);
    if (!m_writes) wrong += sum != m_expected;
    return seconds;
  }

  using Clock = std::chrono::steady_clock;

  cpu_set_t m_cores;
  int m_threads;
  bool m_writes;
  std::size_t m_count;
  CopyMemory<Space> m_memory;
  std::uint64_t m_expected = 0;
  std::int64_t m_wrong = 0, m_wrong_baseline = 0;
};

template <class Space>
void add_cpu(std::string const& space, Effort const& effort, Cases& cases) {
  int const nodes = std::max(1, count_of_list(first_line("/sys/devices/system/node/online")));
  for (int node = 0; node < (effort.mode == Mode::quick ? 1 : nodes); ++node)
    for (bool const writes : {false, true}) {
      cpu_set_t const cores = cores_of(node);
      if (CPU_COUNT(&cores) == 0) continue;
      // Reads of write-combined memory take a hundred times as long.
      bool const slow         = plain_kind<Space> == PlainKind::write_combined && !writes;
      std::size_t const bytes = slow || effort.mode == Mode::quick ? 4 * MiB : 256 * MiB;
      if (4 * bytes > effort.host_bytes) continue;
      cases.push_back({std::string("transport/") + (writes ? "cpu_write/" : "cpu_read/") + space +
                           "/node:" + std::to_string(node) + "/bytes:" + std::to_string(bytes),
                       double(bytes), effort.repetitions(0.01),
                       [=] { return std::make_unique<CpuPair<Space>>(node, writes, bytes); }});
    }
}

}  // namespace

Cases cpu_cases(Effort const& effort) {
  Cases cases;
  if (runs_on_device && effort.mode == Mode::quick) return cases;
  add_cpu<Kokkos::HostSpace>("HostSpace", effort, cases);
  add_cpu<PinnedSpace>("PinnedSpace", effort, cases);
  add_cpu<MappedSpace>("MappedSpace", effort, cases);
#ifdef KOKKOS_ENABLE_CUDA
  add_cpu<WriteCombinedSpace>("WriteCombinedSpace", effort, cases);
#endif
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
