// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Allocations of many threads, whose contents the host checks, and kernels of many streams after the
// free. KOKKOS_HOST_SPACES_TEST_ALLOCATIONS sets the number for each thread (172000: 11 million of 64
// threads).

#include "../KokkosTest.hpp"

#include <cuda_runtime_api.h>

namespace {

constexpr int thread_count = 64;
constexpr int stream_count = 8;
constexpr int batch_size   = 32;

using Word = std::uint64_t;

struct Block {
  Word* words;
  std::size_t count;
  Word key;
};

struct Batch {
  Block blocks[batch_size];
};

// Each word of a block is a function of its owner and offset: a canary.
__host__ __device__ Word content(Word key, std::size_t i) {
  return key * 0x9e3779b97f4a7c15ULL + i;
}

__global__ void check_blocks(Batch const batch, unsigned long long* wrong) {
  Block const block = batch.blocks[blockIdx.x];
  for (std::size_t i = threadIdx.x; i < block.count; i += blockDim.x)
    if (block.words[i] != content(block.key, i)) atomicAdd(wrong, 1ULL);
}

// Blocks that another thread will free.
class Mailbox {
 public:
  void put(Block const& block) {
    std::lock_guard const lock(m_mutex);
    m_blocks.push_back(block);
  }
  bool take(Block& block) {
    std::lock_guard const lock(m_mutex);
    if (m_blocks.empty()) return false;
    block = m_blocks.back();
    m_blocks.pop_back();
    return true;
  }

 private:
  std::mutex m_mutex;
  std::vector<Block> m_blocks;
};

class Stress {
 public:
  Stress() {
    for (cudaStream_t& stream : m_streams)
      REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&m_wrong), sizeof(*m_wrong)) == cudaSuccess);
    REQUIRE(cudaMemset(m_wrong, 0, sizeof(*m_wrong)) == cudaSuccess);
  }
  ~Stress() {
    for (cudaStream_t const stream : m_streams) cudaStreamDestroy(stream);
    cudaFree(m_wrong);
  }

  void work(int thread, std::size_t allocations) {
    std::mt19937_64 random(static_cast<unsigned>(thread) + 1);
    std::vector<Block> mine;
    for (std::size_t i = 0; i < allocations; ++i) {
      mine.push_back(allocate(random, (Word(thread) << 40) + i));
      if (mine.size() < 2 * batch_size) continue;
      std::shuffle(mine.begin(), mine.end(), random);
      check_and_free(mine, m_streams[random() % stream_count], random);
    }
    while (mine.size() >= batch_size) check_and_free(mine, m_streams[0], random);
    for (Block const& block : mine) m_space.deallocate(block.words, block.count * sizeof(Word));
  }

  void empty_mailbox() {
    for (Block block; m_mailbox.take(block);)
      m_space.deallocate(block.words, block.count * sizeof(Word));
  }

  unsigned long long wrong_on_device() const {
    unsigned long long wrong = 0;
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaMemcpy(&wrong, m_wrong, sizeof(wrong), cudaMemcpyDeviceToHost) == cudaSuccess);
    return wrong;
  }
  std::size_t wrong_on_host() const { return m_wrong_on_host; }
  std::size_t launch_errors() const { return m_launch_errors; }
  std::size_t checked() const { return m_checked; }

 private:
  // Mostly small, some of many pages.
  Block allocate(std::mt19937_64& random, Word key) {
    std::size_t const largest = random() % 1000 == 0 ? 1 << 17
                                : random() % 20 == 0 ? 1 << 12
                                                     : 1 << 7;
    std::size_t const count   = 1 + random() % largest;
    auto* const words = static_cast<Word*>(m_space.allocate("stress", count * sizeof(Word)));
    for (std::size_t i = 0; i < count; ++i) words[i] = content(key, i);
    return {words, count, key};
  }

  // Checks on the host, then by a kernel that is enqueued before the free.
  void check_and_free(std::vector<Block>& mine, cudaStream_t stream, std::mt19937_64& random) {
    Batch batch;
    for (Block& block : batch.blocks) {
      block = mine.back();
      mine.pop_back();
      for (std::size_t i : {std::size_t(0), block.count / 2, block.count - 1})
        if (block.words[i] != content(block.key, i)) ++m_wrong_on_host;
    }
    check_blocks<<<batch_size, 64, 0, stream>>>(batch, m_wrong);
    if (cudaGetLastError() != cudaSuccess) ++m_launch_errors;
    m_checked += batch_size;
    for (Block block : batch.blocks) {
      if (random() % 4 == 0) {  // for another thread to give back
        m_mailbox.put(block);
        if (!m_mailbox.take(block)) continue;
      }
      m_space.deallocate(block.words, block.count * sizeof(Word));
    }
  }

  khs::MappedSpace m_space;
  std::array<cudaStream_t, stream_count> m_streams{};
  unsigned long long* m_wrong = nullptr;
  Mailbox m_mailbox;
  std::atomic<std::size_t> m_wrong_on_host{0}, m_launch_errors{0}, m_checked{0};
};

}  // namespace

TEST_CASE("no memory is handed out while a kernel of any stream may read it: 64 threads, 8 streams",
          "[pool_stress]") {
  char const* const wanted      = std::getenv("KOKKOS_HOST_SPACES_TEST_ALLOCATIONS");
  std::size_t const allocations = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 4000;
  auto const in_use_before      = khs::pool::statistics().total.bytes_in_use;
  Stress stress;
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] { stress.work(t, allocations); });
  for (std::thread& thread : threads) thread.join();
  CHECK(stress.wrong_on_device() == 0);
  stress.empty_mailbox();
  CHECK(stress.wrong_on_host() == 0);
  CHECK(stress.launch_errors() == 0);
  CHECK(stress.checked() >= (allocations / batch_size - 1) * batch_size * thread_count);
  CHECK(khs::pool::statistics().total.bytes_in_use == in_use_before);
  WARN("checked " << stress.checked() << " allocations; "
                  << khs::pool::to_text(khs::pool::statistics()));
}
