// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Workspaces of reductions, on the fake runtime: one a stream, thread or captured kernel.

#include "../FakeTest.hpp"
#include "../../../backend/os/Fork.hpp"

#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>

using KokkosHostSpaces::Impl::ReductionWorkspaces;
namespace Driver = KokkosHostSpaces::Impl::Backend::Driver;

namespace {

constexpr std::size_t KiB = 1024;

bool is_zero(void const* memory, std::size_t bytes) {
  auto const* const begin = static_cast<char const*>(memory);
  return std::all_of(begin, begin + bytes, [](char byte) { return byte == 0; });
}

struct Cleared {
  ReductionWorkspaces all;
  ~Cleared() { all.clear(); }
};

}  // namespace

TEST_CASE(
    "each stream has memory for the parts of its reductions, keeps it, and gets other memory for more") {
  FakeCuda::reset(2);
  Cleared cleared;
  ReductionWorkspaces& all = cleared.all;
  DeviceWork::Stream one, other;
  void* const first = all.of(one.get(), 0, 100);
  CHECK(is_zero(first, 16 * KiB));
  CHECK(all.of(one.get(), 0, 16 * KiB) == first);
  CHECK(all.of(other.get(), 0, 100) != first);
  CHECK(all.of(one.get(), 1, 100) != first);
  std::thread([&] { CHECK(all.of(one.get(), 0, 100) == first); }).join();
  void* const large = all.of(one.get(), 0, 17 * KiB);
  CHECK(large != first);
  CHECK(is_zero(large, 32 * KiB));
  CHECK(is_zero(first, 16 * KiB));  // kernels may still use it
  CHECK(all.of(one.get(), 0, 1) == large);
  all.clear();
  CHECK(FakeCuda::outstanding().device_allocations == 0);
  CHECK(is_zero(all.of(one.get(), 0, 1), 16 * KiB));
}

TEST_CASE("threads have parts of their own on streams of their own") {
  FakeCuda::reset(1);
  Cleared cleared;
  DeviceWork::Stream shared;
  for (auto* stream :
       {cudaStreamPerThread, cudaStream_t(nullptr), cudaStreamLegacy, shared.get()}) {
    std::set<void*> known;
    for (int i = 0; i < 4; ++i)  // one ends before the next one begins
      std::thread([&] {
        known.insert(cleared.all.of(stream, 0, 1));
        known.insert(cleared.all.of(stream, 0, 2));
      }).join();
    CHECK(known.size() == (stream == shared.get() || stream == cudaStreamLegacy ? 1 : 4));
  }
}

TEST_CASE("many threads and streams get memory for parts at once") {
  FakeCuda::reset(1);
  Cleared cleared;
  std::vector<DeviceWork::Stream> streams(8);
  std::vector<std::vector<void*>> seen(6);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < seen.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 400; ++i)
        seen[t].push_back(cleared.all.of(streams[i % 8].get(), 0, 1 + i / 8 % 2 * 16 * KiB));
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t t = 1; t < seen.size(); ++t)
    CHECK(std::equal(seen[0].end() - 8, seen[0].end(), seen[t].end() - 8));
}

TEST_CASE("each captured reduction has parts of its own, until the graph is gone") {
  FakeCuda::reset(1);
  Cleared cleared;
  ReductionWorkspaces& all = cleared.all;
  DeviceWork::Stream stream;
  void* const of_stream = all.of(stream.get(), 0, 1);
  stream.begin_capture();
  void* const one = all.of(stream.get(), 0, 1000);
  void* const two = all.of(stream.get(), 0, 1000);
  CHECK(std::set<void*>{of_stream, one, two}.size() == 3);
  CHECK(is_zero(one, 1000));
  cudaGraph_t const graph = stream.end_capture_with_graph();
  REQUIRE(graph != nullptr);
  CHECK(all.of(stream.get(), 0, 1) == of_stream);
  stream.begin_capture();
  void* const other = all.of(stream.get(), 0, 1000);
  CHECK(std::set<void*>{of_stream, one, two, other}.size() == 4);
  CHECK(stream.end_capture());  // and destroys that graph
  DeviceWork::require(cudaGraphDestroy(graph), "cudaGraphDestroy");
  stream.begin_capture();  // what graphs had is used again, by those for which it is large enough
  CHECK(std::set<void*>{of_stream, one, two, other}.count(all.of(stream.get(), 0, 1025)) == 0);
  CHECK(std::set<void*>{one, two, other}.count(all.of(stream.get(), 0, 1024)) == 1);
  CHECK(stream.end_capture());
  CHECK(FakeCuda::nothing_leaked());
}

TEST_CASE("memory for parts is made beside a capture of another thread, and does not break it") {
  FakeCuda::reset(1);
  Cleared cleared;
  DeviceWork::Stream captured(DeviceWork::Stream::Kind::blocking), stream;
  captured.begin_capture();
  std::thread([&] {
    for (std::size_t const bytes : {KiB, 40 * KiB})
      CHECK(is_zero(cleared.all.of(stream.get(), 0, bytes), bytes));
  }).join();
  CHECK(captured.end_capture());
}

// The next CUDA call reports the error of an earlier kernel, which is no lack of memory.
TEST_CASE("where a device has no memory for parts, that is said, and the next call works") {
  FakeCuda::reset(2);
  Cleared cleared;
  DeviceWork::Stream stream;
  FakeCuda::fail_nth_call("cudaMalloc", 1);
  CHECK_THROWS_WITH(
      cleared.all.of(stream.get(), 0, 5000),
      ContainsSubstring("device 0 has no memory left") && ContainsSubstring("16384 bytes"));
  FakeCuda::fail_nth_call("cudaMalloc", 1, cudaErrorIllegalAddress);
  CHECK_THROWS_WITH(cleared.all.of(stream.get(), 0, 1),
                    ContainsSubstring("an earlier kernel failed"));
  stream.begin_capture();
  FakeCuda::fail_nth_call("cudaMalloc", 1);
  CHECK_THROWS_AS(cleared.all.of(stream.get(), 0, 1), KokkosHostSpaces::Error);
  CHECK(cleared.all.of(stream.get(), 0, 1) != nullptr);
  CHECK(stream.end_capture());
  CHECK(cleared.all.of(stream.get(), 0, 5000) != nullptr);
}

TEST_CASE("the child of a fork ends while another thread was getting memory for parts") {
  FakeCuda::reset(1);
  KokkosHostSpaces::Impl::Backend::is_forked_child();
  Cleared cleared;
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  std::function<void()> hold = gate.hold();
  Driver::enqueue_host_function(
      Driver::private_stream(0), [](void* held) { (*static_cast<std::function<void()>*>(held))(); },
      &hold);
  std::thread maker([&] { cleared.all.of(stream.get(), 0, 1); });
  while (FakeCuda::outstanding().device_allocations == 0) std::this_thread::yield();
  CHECK(ChildOfFork::status([&] {
          cleared.all.clear();
          return 0;
        }) == 0);
  gate.open();
  maker.join();
}
