// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A program of two threads that make, copy, register and free memory at random, beside a model of all contents. It is
// given the first seed and how many; each seed has a process of its own. One seed in three makes calls to CUDA fail.

#include "../../support/ChildOfFork.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "Program.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>

using namespace Program;

namespace {

constexpr std::size_t most = 4 * MiB, limit = 16 * MiB;  // the limit is that of the environment
std::atomic<std::size_t> of_program{0};                  ///< bytes that the program itself locks
bool may_fail = false;

// Whether a call succeeds. One that fails leaves an error behind; no other does.
bool succeeds(cudaError_t error, int line = __builtin_LINE()) {
  cudaError_t const left = cudaGetLastError();
  if (!(error == cudaSuccess ? left == cudaSuccess : may_fail))
    std::fprintf(stderr, "line %d: error %d, left %d\n", line, int(error), int(left));
  REQUIRE(error == cudaSuccess ? left == cudaSuccess : may_fail);
  return error == cudaSuccess;
}
template <class Call>
void insist(Call call) {
  while (!succeeds(call())) {
  }
}
void is_refused(cudaError_t error) { REQUIRE(cudaGetLastError() == error && error != cudaSuccess); }

/// What is in use, of all threads.
class InUse {
 public:
  void add(char* begin, std::size_t bytes) {
    std::lock_guard const lock(m_mutex);
    auto const next = m_ends.lower_bound(begin);
    REQUIRE(next == m_ends.end() || begin + bytes <= next->first);
    REQUIRE(next == m_ends.begin() || std::prev(next)->second <= begin);
    m_ends[begin] = begin + bytes;
  }
  void remove(char* begin) {
    std::lock_guard const lock(m_mutex);
    m_ends.erase(begin);
  }

 private:
  std::mutex m_mutex;
  std::map<char*, char*> m_ends;
} in_use;

struct Block {
  char* data        = nullptr;
  std::size_t bytes = 0;
  bool pinned = false, shared = false;
  std::size_t from = 0, until = 0;  ///< what the program has registered
  std::vector<char> model{};
  bool holds() const { return std::memcmp(data, model.data(), bytes) == 0; }
};

/// A stream, and memory that only it copies.
struct Lane {
  std::unique_ptr<DeviceWork::Stream> stream;
  OnDevice memory{most};
  std::vector<char> model = std::vector<char>(most);
  bool is_unknown         = true;  ///< after an error its copy may run on
  void wait() {
    insist([&] { return cudaStreamSynchronize(stream ? stream->get() : nullptr); });
    if (is_unknown) model.assign(memory.data(), memory.data() + most);
    is_unknown = false;
    REQUIRE(std::memcmp(memory.data(), model.data(), most) == 0);
  }
};

class Worker {
 public:
  Worker(unsigned seed, char* shared) : m_random(seed), m_lanes(3) {
    m_lanes[1].stream = std::make_unique<DeviceWork::Stream>();
    m_lanes[2].stream = std::make_unique<DeviceWork::Stream>(DeviceWork::Stream::Kind::blocking);
    add({shared, MiB / 2, false, true});
  }
  void run(int steps) {
    while (steps-- > 0) step();
    for (Lane& lane : m_lanes) lane.wait();
    while (m_blocks.size() > 1) drop(m_blocks.size() - 1);
    if (m_blocks[0].until > 0) end_registration(m_blocks[0]);
  }

 private:
  std::size_t random(std::size_t below) { return m_random() % below; }
  void write(Block& block) {
    std::memset(block.data, int(random(256)), block.bytes);
    for (std::size_t at = random(4096); at < block.bytes; at += 4096)
      block.data[at] = char(at >> 12);
    block.model.assign(block.data, block.data + block.bytes);
  }
  void add(Block block) {
    m_blocks.push_back(std::move(block));
    write(m_blocks.back());
  }

  void make() {
    if (m_blocks.size() > 10) return drop(1 + random(m_blocks.size() - 1));
    std::size_t const bytes = std::min(most, (MiB / 16 << random(7)) + random(2) * random(5000));
    Block block{nullptr, bytes, random(6) == 0};
    void* memory = nullptr;
    if (block.pinned) {
      of_program += bytes;
      insist([&] { return cudaHostAlloc(&memory, bytes, cudaHostAllocDefault); });
    } else {
      memory = random(2) == 0 ? operator new(bytes, alignment) :
                              operator new(bytes, alignment, std::nothrow);
      REQUIRE(memory != nullptr && malloc_usable_size(memory) >= bytes);
    }
    block.data = static_cast<char*>(memory);
    REQUIRE(reinterpret_cast<std::size_t>(memory) % 64 == 0);
    in_use.add(block.data, bytes);
    add(std::move(block));
  }

  void drop(std::size_t i) {
    if (m_blocks[i].until > 0) end_registration(m_blocks[i]);
    REQUIRE(m_blocks[i].holds());
    release(i);
  }
  void release(std::size_t i, bool is_known = true) {
    Block const block = std::move(m_blocks[i]);
    m_blocks.erase(m_blocks.begin() + std::ptrdiff_t(i));
    void* volatile memory = block.data;  // other functions than the matching one may free it
    if (!m_is_child) in_use.remove(block.data);  // whose mutex another thread may have held
    if (block.pinned) {
      insist([&] { return cudaFreeHost(memory); });
      of_program -= block.bytes;
      return;
    }
    std::size_t const kept = 1 + random(2 * block.bytes);
    switch (random(5)) {
      case 0: return operator delete(memory, alignment);
      case 1: return operator delete(memory);
      case 2: return std::free(memory);
      case 3: return operator delete(memory, alignment, std::nothrow);
      default: memory = std::realloc(memory, kept);
    }
    REQUIRE(!is_known || std::memcmp(memory, block.model.data(), std::min(kept, block.bytes)) == 0);
    std::free(memory);
  }

  void registers(Block& block) {
    if (block.pinned) return;
    if (block.until > 0) return end_registration(block);
    block.from              = random(2) * random(block.bytes);
    std::size_t const bytes = 1 + random(block.bytes - block.from);
    auto const call         = [&] { return cudaHostRegister(block.data + block.from, bytes, 0); };
    of_program += bytes;
    insist(call);
    block.until = block.from + bytes;
    is_refused(call());
  }
  void end_registration(Block& block) {
    insist([&] { return cudaHostUnregister(block.data + block.from); });
    of_program -= block.until - block.from;
    block.until = 0;
    REQUIRE(block.holds());
  }

  void ask(Block const& block) {
    std::size_t const at             = random(2) * random(block.bytes);
    bool const is_locked             = block.pinned || (block.from <= at && at < block.until);
    cudaPointerAttributes attributes = {};
    insist([&] { return cudaPointerGetAttributes(&attributes, block.data + at); });
    REQUIRE(attributes.type == (is_locked ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered));
    void* device = nullptr;
    insist([&] { return cudaHostGetDevicePointer(&device, block.data + at, 0); });
    REQUIRE(device == block.data + at);
    if (block.until == 0) is_refused(cudaHostUnregister(block.data));
    if (!block.pinned) is_refused(cudaFreeHost(block.data));
    REQUIRE(FakeCuda::outstanding().pinned_bytes <= limit + of_program + 65536);
  }

  // Rows of the block, dense on the device.
  void copy(std::size_t i) {
    Block& block      = m_blocks[i];
    Lane& lane        = m_lanes[random(m_lanes.size())];
    std::size_t begin = 0, end = block.bytes;
    bool const inside = block.until > 0 && (block.from == 0 || random(2) == 0);
    if (block.until > 0) begin = inside ? block.from : 0, end = inside ? block.until : block.from;
    if (random(2) == 0) begin += random(end - begin), end -= random(end - begin);
    std::size_t const width =
        random(3) == 0 ? 1 + random(std::min(end - begin, std::size_t(9000))) : end - begin;
    std::size_t const pitch = width + random(2) * random(100),
                      rows  = (end - begin - width) / pitch + 1;
    bool const to_host = random(2) == 0, waits = !block.pinned && !inside;
    char *const host = block.data + begin, *const device = lane.memory.data();
    if (lane.is_unknown) lane.wait();
    if (lane.stream && random(2) == 0)
      lane.stream->run(
          [us = random(300)] { std::this_thread::sleep_for(std::chrono::microseconds(us)); });
    auto const call = [&](char* dst, std::size_t dp, char const* src, std::size_t sp) {
      auto const kind = random(2) == 0 ? cudaMemcpyDefault
                        : to_host      ? cudaMemcpyDeviceToHost
                                       : cudaMemcpyHostToDevice;
      if (lane.stream && rows == 1)
        return cudaMemcpyAsync(dst, src, width, kind, lane.stream->get());
      if (lane.stream)
        return cudaMemcpy2DAsync(dst, dp, src, sp, width, rows, kind, lane.stream->get());
      if (rows == 1) return cudaMemcpy(dst, src, width, kind);
      return cudaMemcpy2D(dst, dp, src, sp, width, rows, kind);
    };
    if (!succeeds(to_host ? call(host, pitch, device, width) : call(device, width, host, pitch))) {
      lane.is_unknown = true;
      if (waits && !block.shared && block.until == 0 && random(2) == 0) return release(i, false);
      lane.wait();
      return write(block);
    }
    for (std::size_t row = 0; row < rows; ++row) {
      char *const in_block = &block.model[begin + row * pitch], *const in_lane =
                                                                    &lane.model[row * width];
      std::memcpy(to_host ? in_block : in_lane, to_host ? in_lane : in_block, width);
    }
    if (!waits && block.until > 0 && random(2) == 0)
      return end_registration(block);                       // waits for the copy
    if (block.pinned && random(4) == 0) return release(i);  // so does this
    if (!waits || random(4) == 0) lane.wait();
    REQUIRE(block.holds());
    write(block);
  }

  void in_child() {
    for (Lane& lane : m_lanes) lane.wait();
    REQUIRE(ChildOfFork::status([&] {
              m_is_child = true;
              for (Block const& block : m_blocks) REQUIRE(block.holds());
              while (m_blocks.size() > 5 && !m_blocks.back().pinned) release(m_blocks.size() - 1);
              View(MiB).fill(1);
              for (Block const& block : m_blocks) REQUIRE(block.holds());
              return 0;
            }) == 0);
  }

  void step() {
    std::size_t const i = random(m_blocks.size()), what = random(40);
    constexpr char const* failing[] = {"*", "cudaStreamSynchronize", "cudaDeviceSynchronize"};
    if (may_fail && random(8) == 0) FakeCuda::fail_nth_call(failing[random(3)], 1 + random(12));
    if (what < 10) return make();
    if (what < 13 && i > 0) return drop(i);
    if (what < 17) return registers(m_blocks[i]);
    if (what < 20) return ask(m_blocks[i]);
    if (what < 21 && random(4) == 0) return in_child();
    copy(i);
  }

  bool m_is_child = false;
  std::mt19937 m_random;
  std::vector<Lane> m_lanes;
  std::vector<Block> m_blocks;
};

void run(unsigned seed) {
  alarm(60);
  may_fail = seed % 3 == 0;
  {
    cudaStreamCaptureMode mode     = cudaStreamCaptureModeRelaxed;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    insist([&] {
      return cudaThreadExchangeStreamCaptureMode(&mode);
    });  // so that the calls below, which may not fail, are found
    insist([&] { return cudaThreadExchangeStreamCaptureMode(&mode); });
    insist([&] { return cudaStreamIsCapturing(nullptr, &status); });
    View shared(MiB);
    Worker first(2 * seed, shared.data()), second(2 * seed + 1, shared.data() + MiB / 2);
    std::thread other([&] { second.run(400); });
    first.run(400);
    other.join();
    FakeCuda::fail_no_more();
  }
  auto const left = FakeCuda::outstanding();
  REQUIRE(of_program == 0 && left.pinned_allocations == 0);
  REQUIRE(left.device_allocations <= 1 && left.streams <= 1);  // of the self-test of forks
  REQUIRE(left.pinned_bytes <= limit + 65536);
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc > 1);
  unsigned const first = unsigned(std::stoul(argv[1]));
  if (argc == 2) return run(first), 0;
  for (unsigned seed = first; seed < first + std::stoul(argv[2]); ++seed) {
    std::string text      = std::to_string(seed);
    char* const command[] = {argv[0], text.data(), nullptr};
    pid_t child           = 0;
    int status            = 0;
    REQUIRE(posix_spawn(&child, program_invocation_name, nullptr, nullptr, command, environ) == 0);
    REQUIRE(waitpid(child, &status, 0) == child);
    if (status != 0) return std::fprintf(stderr, "seed %u: status %d\n", seed, status), 1;
  }
}
