// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Whichever call to CUDA or the system fails, or which allocation of host memory: what enqueues streamed
// loops, batches of copies, snapshots and reductions throws what it promises, leaves nothing behind and works
// again. Without Kokkos.

#include "../backend/FailureSweep.hpp"

#include "stream/StreamJobs.hpp"

#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/multipath/RelayedCopies.hpp>
#include <KokkosHostSpaces/impl/output/SnapshotThread.hpp>
#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>

namespace StreamFailureSweep {

using namespace FailureSweep;
using namespace KokkosHostSpaces::Impl;
using StreamCases::Case;

namespace {

constexpr std::size_t plenty = std::size_t(1) << 30;

DeviceMemory allocate(int device, std::size_t bytes) {
  return allocate_on_device(device, bytes, "a test", "free some");
}

// A random loop in chunks, whose arrays are page-locked. Its kernels do not fail.
struct Loop {
  Loop(unsigned seed, Transport transport, Setting& setting, std::size_t devices)
      : random(seed, seed % 2 == 0), locked(random) {
    random.options.chunk_rows = 9;
    random.options.memory     = plenty;
    StreamCases::Streams streams{setting.of_first.get(), setting.of_second.get()};
    streams.resize(devices);
    job           = StreamCases::job_of(random, streams);
    job.transport = transport;
    for (std::size_t i = 0; i < devices; ++i) job.targets[i].device = int(i) + 1;
    job.launch = [launch = job.launch](std::size_t target, StreamLaunch const& what) {
      FailNth::Exempt const of_test;
      launch(target, what);
    };
    job.save = [save = job.save](void const* from, std::size_t bytes) {
      FailNth::Exempt const of_test;
      return save(from, bytes);
    };
    expected = random.expected();
    lasts    = setting.failure.lasts;
  }
  ~Loop() {
    at_end.emplace();
    // Where streams cannot be waited for, work is left behind.
    for (int device = lasts ? 2 : 0; device > 0; --device) {
      cudaSetDevice(device);
      cudaDeviceSynchronize();
    }
  }
  Loop(Loop const&)            = delete;
  Loop& operator=(Loop const&) = delete;

  std::optional<FailNth::Exempt> at_end;  // until the other members are destroyed

  Case random;
  StreamCases::Locked locked;
  StreamJob job;
  bool lasts;
  std::vector<StreamCases::Array> expected;
};

// True for loops that are not refused, and have several chunks.
bool fits(unsigned seed, Transport transport) {
  Case random(seed, seed % 2 == 0);
  random.options.chunk_rows = 9;
  random.options.memory     = plenty;
  try {
    StreamBinding const bound = bind_stream("test", random.loops);
    return plan_stream("test", bound.shape, random.options).chunks > 1 &&
           (bound.in_place.empty() || transport == Transport::staged);
  } catch (Error const&) {
    return false;
  }
}

struct Writer final : SnapshotWriter {
  explicit Writer(std::atomic<int>& written) : m_written(written) {}
  void write() override { ++m_written; }
  std::atomic<int>& m_written;
};

}  // namespace

TEST_CASE("whichever call fails: loops on streams", "[failures]") {
  unsigned loops = 0;
  // All calls where the environment asks for many cases.
  std::size_t const step = rounds(0) > 0 ? 1 : sanitized ? 31 : 13;
  for (unsigned seed = 0; loops < 4; ++seed) {
    auto const transport = loops < 2 ? Transport::staged : Transport::zero_copy;
    if (!fits(seed, transport)) continue;
    ++loops;
    Sweep("loop " + std::to_string(seed),
          [=](Setting& setting) {
            std::optional<FailNth::Exempt> of_test(std::in_place);
            Loop loop(seed, transport, setting, 1 + loops % 2);
            StreamResourcePool pool(allocate, plenty);
            of_test.reset();
            run_stream(loop.job, pool)->fence();
            of_test.emplace();
            expect(loop.random.arrays() == loop.expected, "the loop is wrong");
          },
          {.step = step});
  }
}

TEST_CASE("whichever call fails: batches on streams", "[failures]") {
  using Piece  = KokkosHostSpaces::Impl::Piece;  // the pool has one, too
  using Pieces = std::vector<Piece>;
  struct Locked {
    char* const page;
    explicit Locked(char* begin) : page(begin) { Driver::lock_pages(page, page_bytes()); }
    ~Locked() { Driver::unlock_pages(page, page_bytes()); }
  };
  struct Pattern {
    int count, length, distance;
    std::size_t begin;
  };
  // By the call for many; by that for rows; one by one; neighbours, each in a registration of its own.
  for (Pattern const& of : {Pattern{5, 100, 700, 0}, Pattern{9, 64, 128, 0},
                            Pattern{2, 2000, 2048, 0}, Pattern{2, 100, 100, page_bytes() - 100}})
    Sweep("a batch of " + std::to_string(of.count), [&](Setting& setting) {
      std::optional<FailNth::Exempt> of_test(std::in_place);
      std::size_t const bytes = 2 * page_bytes();
      char* const host        = setting.foreign_pages(2);
      Locked const first(host), second(host + page_bytes());
      DeviceMemory const device = allocate(1, bytes);
      std::iota(device.get(), device.get() + bytes, 'a');
      Pieces pieces;
      for (std::size_t at = of.begin; pieces.size() < std::size_t(of.count); at += of.distance)
        pieces.push_back({host + at, device.get() + at, std::size_t(of.length)});
      of_test.reset();
      BatchTables tables;
      for (Piece const& piece : pieces) tables.reached.add(piece);
      BatchRules const rules = rules_for(tables, false, setting.stream.get(), 1);
      BatchPlan const plan   = plan_batch(std::move(tables), rules);
      bool is_taken =
          copy_rows(plan, setting.stream.get()) || copy_by_call(plan, setting.stream.get());
      is_taken = copy_single(plan, setting.stream.get()) && is_taken;
      if (!is_taken || !plan.by_kernel.empty())
        for (Piece const& piece : pieces)
          Driver::copy(piece.dst, piece.src, piece.bytes, setting.stream.get());
      Driver::fence(setting.stream.get());
      for (Piece const& piece : pieces)
        expect(std::memcmp(piece.dst, piece.src, piece.bytes) == 0, "the batch is wrong");
      of_test.emplace();
    });
}

TEST_CASE("whichever call fails: copies over several links", "[failures]") {
  static std::vector<std::uint32_t> host(std::size_t(64) << 10), back(host.size());
  std::iota(host.begin(), host.end(), 1U);
  std::size_t const bytes = host.size() * 4;
  RelayRules rules;
  rules.least_bytes = rules.first_chunk = bytes / 4;
  rules.chunk                           = bytes / 2;
  rules.latency                         = 0;
  RelayedCopies::Probe const probe{[](int) { return 5e10; }, [](int, int) { return false; }};
  Sweep("to a device and back",
        [&](Setting& setting) {
          std::optional<FailNth::Exempt> of_test(std::in_place);
          struct Locked {
            std::vector<std::uint32_t>& of;
            explicit Locked(std::vector<std::uint32_t>& all) : of(all) {
              Driver::lock_pages(of.data(), of.size() * 4);
            }
            ~Locked() {
              FailNth::Exempt const of_the_test;
              Driver::unlock_pages(of.data(), of.size() * 4);
            }
          } const first(host), second(back);
          DeviceMemory const device = allocate(1, bytes);
          std::fill(back.begin(), back.end(), 0U);
          of_test.reset();
          RelayedCopies copies(1, {2}, probe, "", rules);
          copies.enqueue(device.get(), host.data(), bytes, setting.stream.get());
          copies.enqueue(back.data(), device.get(), bytes, setting.stream.get());
          Driver::fence(setting.stream.get());
          of_test.emplace();
          expect(back == host, "the copies are wrong");
        },
        {.step = rounds(0) > 0 ? 1U : 4U});
}

TEST_CASE("whichever call fails: memory of devices", "[failures]") {
  static std::array<char, 4096> table;
  table.fill('t');
  Sweep("a copy for kernels", [&](Setting& setting) {
    DeviceCopies copies(allocate);
    for (int i = 0; i < 2; ++i) {
      void* const copy = copies.on_device(1, setting.stream.get(), table.data(), table.size());
      FailNth::Exempt const of_test;
      setting.stream.wait();
      expect(std::memcmp(copy, table.data(), table.size()) == 0, "the copy is wrong");
    }
    copies.forget();
  });
  Sweep("a table", [&](Setting&) {
    DeviceMemory const copy = try_copy_to_device(1, table.data(), table.size());
    if (copy != nullptr)
      expect(std::memcmp(copy.get(), table.data(), table.size()) == 0, "the copy is wrong");
  });
  Sweep("workspaces of reductions", [](Setting& setting) {
    struct Cleared : ReductionWorkspaces {
      ~Cleared() { clear(); }
    } all;
    expect(*static_cast<char*>(all.of(setting.stream.get(), 1, 100)) == 0, "it is not zero");
  });
}

TEST_CASE("whichever call fails: snapshots on streams", "[failures]") {
  Sweep("a snapshot", [](Setting& setting) {
    std::atomic<int> written = 0;
    int pushed               = 0;
    bool failed              = false;
    struct Closed {
      std::shared_ptr<SnapshotThread> thread = SnapshotThread::start(4);
      ~Closed() { thread->close(); }
    } const queue;
    for (int i = 0; i < 3; ++i) {
      std::list<SnapshotJob> job;
      job.emplace_back(*queue.thread, "snapshot", 3);
      job.front().writer = std::make_unique<Writer>(written);
      job.front().wait_for(setting.stream.get(), 1);
      std::uint64_t const number = queue.thread->push(job);
      ++pushed;
      try {
        queue.thread->fence(number);
      } catch (Error const&) {
        failed = true;
      }
    }
    expect(written == pushed || failed, "a writer is not called");
    expect(queue.thread->bytes_in_flight() == 0, "bytes stay in flight");
  });
}

}  // namespace StreamFailureSweep
