// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that a captured graph replays, on the fake runtime and on the real one.

#include "../../backend/Replays.hpp"
#include "../support/DeviceWork.hpp"
#include "pool/PoolTest.hpp"

using Kind = DeviceWork::Stream::Kind;

namespace {

// A graph of one copy within the pool's memory.
class CopyGraph {
 public:
  CopyGraph(DeviceWork::Stream& stream, char* dst, char const* src, std::size_t bytes) {
    stream.begin_capture(cudaStreamCaptureModeThreadLocal);
    retain_for_graph(stream.get(), dst, src);
    Driver::copy(dst, src, bytes, stream.get());
    m_graph = stream.end_capture_with_graph();
    REQUIRE(m_graph != nullptr);
  }
  ~CopyGraph() {
    destroy_source();
    if (m_ready != nullptr) cudaGraphExecDestroy(m_ready);
  }
  CopyGraph(CopyGraph const&)            = delete;
  CopyGraph& operator=(CopyGraph const&) = delete;

  void instantiate() {
    DeviceWork::require(cudaGraphInstantiate(&m_ready, m_graph, 0), "cudaGraphInstantiate");
  }
  void destroy_source() {
    if (m_graph != nullptr) cudaGraphDestroy(std::exchange(m_graph, nullptr));
  }
  void launch(DeviceWork::Stream& stream) {
    DeviceWork::require(cudaGraphLaunch(m_ready, stream.get()), "cudaGraphLaunch");
  }

 private:
  cudaGraph_t m_graph     = nullptr;
  cudaGraphExec_t m_ready = nullptr;
};

// CUDA may let go later, in a thread of its own.
bool becomes_unused(char const* pointer) {
  for (int i = 0; i < 1000; ++i) {
    auto const known = pool::describe(pointer);
    if (!known || known->state != pool::State::in_use) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

std::size_t bytes_in_use() { return PoolTest::usage().bytes_in_use; }

}  // namespace

TEST_CASE("failure 8: a graph replays memory that was given back while others allocate and write") {
  PoolTest const test(1);
  std::size_t const bytes = GENERATE(100, 40 * KiB, 3 * MiB, 20 * MiB);
  DeviceWork::Stream stream(GENERATE(Kind::blocking, Kind::non_blocking));
  char* const source = PoolTest::allocate(bytes);
  char* const copied = PoolTest::allocate(bytes);
  std::fill_n(source, bytes, 'a');
  CopyGraph graph(stream, copied, source, bytes);
  graph.instantiate();
  Pool::deallocate(source);
  std::string const expected(bytes, 'a');
  Blocks others;
  for (int i = 0; i < 4; ++i) {
    others.add(bytes);
    CHECK(others.back() != source);
    std::fill_n(others.back(), bytes, 'z');
  }
  for (int launch = 0; launch < 3; ++launch) {
    std::fill_n(copied, bytes, ' ');
    graph.launch(stream);
    stream.wait();
    CHECK(std::memcmp(copied, expected.data(), bytes) == 0);
  }
  others.deallocate();
  Pool::deallocate(copied);
}

TEST_CASE("memory of a graph comes back with the last of graph, executable and launches") {
  PoolTest const test(1);
  std::size_t const bytes = GENERATE(100, 40 * KiB, 20 * MiB);
  DeviceWork::Stream stream;
  char* const source = PoolTest::allocate(bytes);
  char* const copied = PoolTest::allocate(bytes);
  {
    CopyGraph graph(stream, copied, source, bytes);
    std::size_t const before = bytes_in_use();
    Pool::deallocate(copied);
    CHECK(bytes_in_use() == before);
    CHECK(pool::describe(copied)->state == pool::State::in_use);
    graph.instantiate();
    graph.destroy_source();
    CHECK(pool::describe(copied)->state == pool::State::in_use);
    CHECK(pool::describe(source)->state == pool::State::in_use);
    graph.launch(stream);
    stream.wait();
  }
  CHECK(becomes_unused(copied));
  CHECK_FALSE(pool::describe(source)->state != pool::State::in_use);  // its owner's still
  Pool::deallocate(source);
  CHECK(becomes_unused(source));
  CHECK(bytes_in_use() == 0);
}

TEST_CASE("without a capture nothing is kept") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  char* const memory = PoolTest::allocate(1000);
  retain_for_graph(stream.get(), memory, memory);
  retain_for_graph(nullptr, memory, memory);
  Pool::deallocate(memory);
  CHECK(bytes_in_use() == 0);
}

TEST_CASE("the legacy stream is not taken for the blocking stream that captures") {
  PoolTest const test(1);
  DeviceWork::Stream stream(Kind::blocking);
  stream.begin_capture();
  CHECK(Driver::captures(stream.get()));
  CHECK_FALSE(Driver::captures(nullptr));
  CHECK_FALSE(Driver::captures(cudaStreamLegacy));
  CHECK(stream.end_capture());
}

TEST_CASE("who captures a graph for another owner keeps its memory apart") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  char* const memory = PoolTest::allocate(1000);
  {
    RetainedMemory mine;
    {
      ScopedRetention const by(mine);
      CopyGraph const graph(stream, memory, memory + 500, 10);
    }
    CHECK(mine.blocks() > 0);
    Pool::deallocate(memory);
    CHECK(pool::describe(memory)->state == pool::State::in_use);
  }
  CHECK(bytes_in_use() == 0);
}

TEST_CASE("of thousands of addresses a graph retains each block and each slot once") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  std::size_t const bytes = 8 * MiB;
  char *const large = PoolTest::allocate(bytes), *const small = PoolTest::allocate(1000);
  std::vector<void const*> addresses;
  for (std::size_t i = 0; i < 4000; ++i) {
    addresses.push_back(large + i * 7919 % 4000 * (bytes / 4000));
    addresses.push_back(small + i % 1000);
    addresses.push_back(&addresses);  // of others
  }
  addresses.push_back(large + bytes - 1);
  RetainedMemory alone;
  for (void const* const address : addresses) alone.add(address);
  CHECK(alone.blocks() == 2);
  stream.begin_capture();
  retain_for_graph(stream.get(), addresses);
  cudaGraph_t const graph = stream.end_capture_with_graph();
  for (char* const block : {large, small}) {
    Pool::deallocate(block);
    CHECK(pool::describe(block)->state == pool::State::in_use);
  }
  cudaGraphDestroy(graph);
}

TEST_CASE("memory of a capture that breaks, or fails, comes back") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  char* const memory = PoolTest::allocate(1000);
  stream.begin_capture();
  retain_for_graph(stream.get(), memory, memory + 500);
  Pool::deallocate(memory);
  CHECK(pool::describe(memory)->state == pool::State::in_use);
  CHECK(cudaStreamSynchronize(stream.get()) != cudaSuccess);  // which breaks it
  char* const later = PoolTest::allocate(1000);
  retain_for_graph(stream.get(), later, later);
  CHECK(stream.end_capture_with_graph() == nullptr);
  static_cast<void>(cudaGetLastError());
  CHECK(becomes_unused(memory));
  Pool::deallocate(later);
  CHECK(becomes_unused(later));
}

TEST_CASE("many threads keep the same memory, let it go, and one gives it back") {
  PoolTest const test(1);
  for (int round = 0; round < 50; ++round) {
    char* const memory = PoolTest::allocate(round % 2 == 0 ? 300 : 40 * KiB);
    std::optional<RetainedMemory> last;
    if (round % 4 > 1) last.emplace().add(memory);
    std::jthread const owner([&] { Pool::deallocate(memory); });
    in_threads(4, [memory](int) {
      for (int j = 0; j < 100; ++j) {
        RetainedMemory mine;
        mine.add(memory + 70);
        mine.add(memory);
      }
    });
    if (last) CHECK(pool::describe(memory)->state == pool::State::in_use);
  }
  CHECK(bytes_in_use() == 0);
}
