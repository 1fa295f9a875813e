// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Batches of copies on the fake CUDA runtime: a batch equals memmove piece by piece, or is refused.

#include "../../../backend/pool/Pool.hpp"
#include "../FakeTest.hpp"

#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <sys/mman.h>

#include <cuda.h>

namespace BatchPlans {

using namespace KokkosHostSpaces::Impl;

namespace {

// Page-locked memory of the host, in `registrations` equal ranges that touch, and device memory.
struct Memory {
  explicit Memory(std::size_t size, std::size_t registrations = 1, int devices = 1) : bytes(size) {
    FakeCuda::reset(devices);
    void* const pages =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    host = static_cast<char*>(pages);
    for (std::size_t i = 0; i < registrations; ++i) {
      locked.push_back(host + i * (bytes / registrations));
      Backend::Driver::lock_pages(locked.back(), bytes / registrations);
    }
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
    device = static_cast<char*>(memory);
    fill(1);
  }
  ~Memory() {
    for (char* const begin : locked) Backend::Driver::unlock_pages(begin, bytes / locked.size());
    cudaFree(device);
    munmap(host, bytes);
  }
  Memory(Memory const&)            = delete;
  Memory& operator=(Memory const&) = delete;

  void fill(std::size_t seed) const {
    for (std::size_t i = 0; i < bytes / sizeof(std::size_t); ++i) {
      reinterpret_cast<std::size_t*>(host)[i]   = (i + seed) * 0x9e3779b97f4a7c15;
      reinterpret_cast<std::size_t*>(device)[i] = (i + seed) * 0xc2b2ae3d27d4eb4f;
    }
  }

  std::size_t bytes;
  char *host = nullptr, *device = nullptr;
  std::vector<char*> locked;
};

using Pieces = std::vector<Piece>;

// What both sides hold, and what they have to hold after all copies.
struct Contents {
  explicit Contents(Memory const& of)
      : host(of.host, of.host + of.bytes), device(of.device, of.device + of.bytes) {}
  void copy_pieces(Memory const& of, Pieces const& pieces) {
    auto const at = [&](char const* address) {
      return address >= of.device && address < of.device + of.bytes
                 ? device.data() + (address - of.device)
                 : host.data() + (address - of.host);
    };
    for (Piece const& piece : pieces) std::memmove(at(piece.dst), at(piece.src), piece.bytes);
  }
  bool operator==(Contents const&) const = default;
  std::vector<char> host, device;
};

// As BatchKernels.cpp, with a function on the stream instead of the kernel. Copies what the driver
// refuses piece by piece.
void enqueue(BatchPlan const& plan, Pieces const& pieces, DeviceWork::Stream& stream) {
  bool is_taken = true;
  if (!copy_rows(plan, stream.get())) {
    stream.run([of_kernel = plan.by_kernel] {
      for (Piece const& piece : of_kernel) std::memcpy(piece.dst, piece.src, piece.bytes);
    });
    is_taken = copy_by_call(plan, stream.get());
  }
  is_taken = copy_single(plan, stream.get()) && is_taken;
  if (!is_taken)
    for (Piece const& piece : pieces)
      Backend::Driver::copy(piece.dst, piece.src, piece.bytes, stream.get());
}

BatchTables tables_of(Pieces const& pieces) {
  BatchTables tables;
  for (Piece const& piece : pieces) tables.reached.add(piece);
  return tables;
}

BatchPlan plan_of(Pieces const& pieces, DeviceWork::Stream& stream, int device = 0) {
  BatchTables tables     = tables_of(pieces);
  BatchRules const rules = rules_for(tables, false, stream.get(), device);
  return plan_batch(std::move(tables), rules);
}

bool meet(char const* a, std::size_t a_bytes, char const* b, std::size_t b_bytes) {
  return a_bytes > 0 && b_bytes > 0 && a < b + b_bytes && b < a + a_bytes;
}

// By comparing each piece with each other one.
bool depend_on_each_other(Pieces const& pieces) {
  for (Piece const& a : pieces)
    for (Piece const& b : pieces)
      if (&a != &b &&
          (meet(a.dst, a.bytes, b.dst, b.bytes) || meet(a.dst, a.bytes, b.src, b.bytes)))
        return true;
  return false;
}

bool is_in_conflict(char const* byte, Pieces const& pieces) {
  std::size_t writers = 0, readers = 0;
  for (Piece const& piece : pieces) {
    writers += meet(piece.dst, piece.bytes, byte, 1);
    readers += meet(piece.src, piece.bytes, byte, 1);
  }
  return writers > 0 && writers + readers > 1;
}

// Runs of pieces with gaps, without gaps, or at equal distances, some of them empty; sources follow
// the destinations or lie anywhere; in order or shuffled.
Pieces random_pieces(std::mt19937& random, char* dst, char const* src, std::size_t room) {
  Pieces pieces;
  std::size_t const count = 1 + random() % (random() % 4 == 0 ? 300 : 40);
  bool const regular = random() % 3 == 0, gaps = random() % 2 == 0, jumps = random() % 2 == 0;
  std::size_t const longest = random() % 3 == 0 ? 40000 : 200;
  std::size_t to = random() % 100, from = random() % 100, bytes = 1 + random() % longest;
  std::size_t const to_gap = gaps ? random() % 50 : 0, from_gap = gaps ? random() % 50 : 0;
  while (pieces.size() < count) {
    if (!regular) bytes = random() % 8 == 0 ? 0 : 1 + random() % longest;
    if (!regular && jumps && random() % 4 == 0) from = random() % (room - longest);
    if (to + bytes > room || from + bytes > room) break;
    pieces.push_back({dst + to, src + from, bytes});
    to += bytes + to_gap;
    from += bytes + from_gap;
    if (random() % 200 == 0 && to > 5) to -= 5;  // two pieces may overlap
  }
  if (random() % 2 == 0) std::shuffle(pieces.begin(), pieces.end(), random);
  return pieces;
}

// The driver refuses a single piece that lies in two registrations.
void leave_out_split_ones(Pieces& pieces, Memory const& memory) {
  std::size_t const of_each = memory.bytes / memory.locked.size();
  auto const is_split       = [&](char const* begin, std::size_t bytes) {
    return begin >= memory.host && begin < memory.host + memory.bytes &&
           std::size_t(begin - memory.host) / of_each !=
               std::size_t(begin + bytes - 1 - memory.host) / of_each;
  };
  std::erase_if(pieces, [&](Piece const& piece) {
    return is_split(piece.dst, piece.bytes) || is_split(piece.src, piece.bytes);
  });
}

struct Calls {
  std::size_t copies                  = FakeCuda::calls("cudaMemcpyAsync");
  std::size_t boxes                   = FakeCuda::calls("cudaMemcpy2DAsync");
  std::size_t batches                 = FakeCuda::calls("cuMemcpyBatchAsync");
  bool operator==(Calls const&) const = default;
};

// Enqueues, checks the contents, and returns the calls.
Calls run(Memory const& memory, BatchPlan const& plan, Pieces const& pieces,
          DeviceWork::Stream& stream) {
  REQUIRE(plan.conflict == nullptr);
  Contents expected(memory);
  expected.copy_pieces(memory, pieces);
  Calls const before;
  enqueue(plan, pieces, stream);
  Backend::Driver::fence(stream.get());
  Calls const after;
  REQUIRE(Contents(memory) == expected);
  return {after.copies - before.copies, after.boxes - before.boxes, after.batches - before.batches};
}

// Pieces that can be neither merged nor rows.
Pieces scattered(Memory const& memory, std::size_t count, std::size_t bytes = 100) {
  Pieces pieces;
  for (std::size_t i = 0; i < count; ++i)
    pieces.push_back({memory.device + (bytes + 12) * i,
                      memory.host + (bytes + 12) * (i * 7 % count) + i % 3, bytes - i % 5});
  return pieces;
}

Pieces rows_of(Memory const& memory, std::size_t count, std::size_t src_pitch = 500) {
  Pieces pieces;
  for (std::size_t i = 0; i < count; ++i)
    pieces.push_back({memory.device + 300 * i, memory.host + src_pitch * i, 200});
  return pieces;
}

void shuffle(Pieces& pieces) { std::shuffle(pieces.begin(), pieces.end(), std::mt19937(3)); }

}  // namespace

TEST_CASE("a batch equals memmove piece by piece, or is refused", "[batch]") {
  unsigned const seed = 20251123;
  std::mt19937 random(seed);
  int refused = 0, copied = 0;
  int const count = sanitized ? 50 : 400;
  for (int round = 0; round < count; ++round) {
    INFO("seed " << seed << ", round " << round);
    Memory const memory(1 << 20, round % 3 == 0 ? 4 : 1);
    DeviceWork::Stream stream;
    char* const dst       = round % 4 == 0 ? memory.host : memory.device;
    char const* const src = round % 4 < 2 ? memory.device : memory.host;
    Pieces pieces         = random_pieces(random, dst, src, round % 8 < 4 ? 200000 : memory.bytes);
    leave_out_split_ones(pieces, memory);
    BatchTables tables;
    for (Piece const& piece : pieces)
      (round % 5 == 0 && random() % 3 == 0 ? tables.pageable : tables.reached).add(piece);
    Pieces all = pieces;
    if (round % 7 == 0) {
      all.push_back({dst + random() % 200000, src + random() % 200000, 10});
      tables.on_host.add(all.back());
    }
    BatchRules const rules{random() % 4 != 0, random() % 2 == 0, random() % 2 == 0};
    BatchPlan const plan = plan_batch(std::move(tables), rules);
    // Pieces that copy to themselves in part do not come here: deep_copy_all refuses them by themselves.
    bool const is_refused = depend_on_each_other(all);
    if (dst == src && std::any_of(all.begin(), all.end(), [](Piece const& piece) {
          return meet(piece.dst, piece.bytes, piece.src, piece.bytes);
        }))
      continue;
    REQUIRE((plan.conflict != nullptr) == is_refused);
    if (is_refused) {
      REQUIRE(is_in_conflict(plan.conflict, all));
      ++refused;
      continue;
    }
    run(memory, plan, pieces, stream);
    memory.fill(std::size_t(round));
    run(memory, plan, pieces, stream);  // a plan can be used again
    ++copied;
  }
  CHECK(refused > count / 20);
  CHECK(copied > count / 4);
}

TEST_CASE("neighbours are one copy, and equal pieces at equal distances one 2-D copy, in any order",
          "[batch]") {
  Memory const memory(1 << 20);
  DeviceWork::Stream stream;
  Pieces neighbours, rows = rows_of(memory, 100);
  for (std::size_t i = 0; i < 1000; ++i)
    neighbours.push_back({memory.device + 64 + 100 * i, memory.host + 1000 + 100 * i, 100});
  for (bool const in_order : {true, false}) {
    if (!in_order) shuffle(neighbours), shuffle(rows);
    CHECK(run(memory, plan_of(neighbours, stream), neighbours, stream) == Calls{1, 0, 0});
    CHECK(run(memory, plan_of(rows, stream), rows, stream) == Calls{0, 1, 0});
  }
  rows[50].bytes -= 1;
  CHECK(plan_of(rows, stream).rows.count == 0);
  Piece const far   = {nullptr, nullptr, 200};
  Pieces const wide = {far, {far.dst + (std::size_t(1) << 31), far.src + 300, 200}};
  CHECK(plan_batch(tables_of(wide), {}).rows.count == 0);
}

TEST_CASE("short pieces are left to a kernel if they are many, others are one call", "[batch]") {
  Memory const memory(1 << 23);
  DeviceWork::Stream stream;
  Pieces pieces = scattered(memory, 100);
  pieces.push_back({memory.device + 100000, memory.host + 100000, 300000});
  pieces.push_back({memory.device + 500000, memory.host + 600000, 300000});
  BatchPlan const plan = plan_of(pieces, stream);
  CHECK(plan.by_kernel.size() == 100);
  CHECK(run(memory, plan, pieces, stream) == Calls{0, 0, 1});
  CHECK(run(memory, plan_of(scattered(memory, 3), stream), scattered(memory, 3), stream) ==
        Calls{0, 0, 1});

  auto const few = copy_thresholds.by_kernel[0], many = copy_thresholds.by_kernel[1];
  auto const by_kernel = [&](std::size_t count, std::size_t bytes, bool to_device = false) {
    Pieces of;
    for (std::size_t i = 0; i < count; ++i)
      of.push_back({memory.device + 300000 * i, memory.host + 300000 * (i * 7 % count), bytes});
    return plan_batch(tables_of(of), {true, true, to_device}).by_kernel.size();
  };
  CHECK(by_kernel(few.least_number - 1, 100) == 0);
  CHECK(by_kernel(few.least_number, few.most_bytes) == few.least_number);
  CHECK(by_kernel(few.least_number, few.most_bytes + 1) == 0);
  CHECK(by_kernel(many.least_number, many.most_bytes) == many.least_number);
  CHECK(by_kernel(many.least_number, many.most_bytes, true) == 0);
  CHECK(by_kernel(many.least_number, many.most_bytes + 1) == 0);
}

TEST_CASE("failure 25: a stream or a driver without a call for many gets single copies",
          "[batch]") {
  Memory const memory(1 << 16);
  Pieces const pieces = scattered(memory, 5);
  {
    DeviceWork::Stream stream;
    FakeCuda::fail_nth_call("cuMemcpyBatchAsync", 1, CUDA_ERROR_NOT_SUPPORTED);
    CHECK(run(memory, plan_of(pieces, stream), pieces, stream) == Calls{5, 0, 1});
    BatchPlan const plan = plan_of(pieces, stream);
    for (Backend::Driver::Stream const legacy :
         {Backend::Driver::Stream(nullptr), Backend::Driver::Stream(cudaStreamLegacy)}) {
      Calls const before;
      CHECK(copy_by_call(plan, legacy));
      Backend::Driver::fence(legacy);
      CHECK((Calls().batches == before.batches && Calls().copies == before.copies + 5));
    }
  }
  FakeCuda::use_old_driver();
  DeviceWork::Stream stream;
  CHECK(run(memory, plan_of(pieces, stream), pieces, stream) == Calls{5, 0, 0});
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a batch beside a capture of another thread does not break it", "[batch]") {
  Memory const memory(1 << 16, 2);
  DeviceWork::Stream captured(DeviceWork::Stream::Kind::blocking), stream;
  Pieces pieces;
  for (std::size_t i = 0; i < 64; ++i)
    pieces.push_back({memory.device + 1024 * i, memory.host + 1024 * i, 8 + i * 12});
  Contents expected(memory);
  expected.copy_pieces(memory, pieces);
  captured.begin_capture();
  std::thread([&] {
    enqueue(plan_of(pieces, stream), pieces, stream);
    Backend::Driver::fence(stream.get());
  }).join();
  CHECK(Contents(memory) == expected);
  CHECK(captured.end_capture());
}

TEST_CASE("in a capture nothing is merged, and pieces that are not for a kernel are single copies",
          "[batch]") {
  Memory const memory(1 << 20);
  DeviceWork::Stream stream;
  Pieces neighbours;
  for (std::size_t i = 0; i < 5; ++i)
    neighbours.push_back({memory.device + 100 * i, memory.host + 100 * i, 100});
  for (Pieces const& pieces : {neighbours, scattered(memory, 3), scattered(memory, 50),
                               rows_of(memory, 5), rows_of(memory, 50)}) {
    stream.begin_capture();
    BatchPlan const plan = plan_of(pieces, stream);
    bool const by_kernel = pieces.size() >= copy_thresholds.by_kernel[0].least_number;
    CHECK(plan.by_kernel.size() == (by_kernel ? pieces.size() : 0));
    Calls const before;
    retain_for_graph(plan, stream.get());
    CHECK_FALSE(copy_rows(plan, stream.get()));
    CHECK(copy_by_call(plan, stream.get()));
    CHECK(copy_single(plan, stream.get()));
    CHECK(stream.end_capture());
    CHECK(Calls().copies == before.copies + (by_kernel ? 0 : pieces.size()));
    CHECK((Calls().boxes == before.boxes && Calls().batches == before.batches));
  }
}

TEST_CASE("a captured batch keeps the memory of its pieces in use as long as its graph",
          "[batch]") {
  Memory const memory(1 << 20);
  DeviceWork::Stream stream;
  for (std::size_t const count : {3, 50}) {  // single copies, a kernel
    auto* const sent = static_cast<char*>(Backend::Pool::allocate({.bytes = 1 << 20}));
    Pieces pieces;
    for (std::size_t i = 0; i < count; ++i)
      pieces.push_back({memory.device + 200 * i, sent + 200 * i, 100});
    stream.begin_capture();
    retain_for_graph(plan_of(pieces, stream), stream.get());
    cudaGraph_t const graph = stream.end_capture_with_graph();
    Backend::Pool::deallocate(sent);
    using KokkosHostSpaces::pool::describe, KokkosHostSpaces::pool::State;
    CHECK(describe(sent)->state == State::in_use);
    cudaGraphDestroy(graph);
    CHECK(describe(sent)->state != State::in_use);
  }
  KokkosHostSpaces::pool::trim(0);
}

TEST_CASE("with two devices in use, the driver is asked for allocations, not for pieces",
          "[batch]") {
  Memory const memory(1 << 20, 1, 2);
  DeviceWork::Stream stream;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaFree(nullptr) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  auto const calls_for = [&](std::size_t count) {
    std::size_t const before = FakeCuda::calls("*");
    CHECK(plan_of(scattered(memory, count), stream).by_kernel.size() == count);
    return FakeCuda::calls("*") - before;
  };
  calls_for(100);  // finds the contexts
  CHECK(calls_for(100) == calls_for(200));
}

// Two allocations of two devices may touch: a call for both would take all for memory of the first.
TEST_CASE(
    "where memory of another device takes part all are single copies, and pageable neighbours are not merged",
    "[batch]") {
  Memory const memory(1 << 20, 1, 2);
  DeviceWork::Stream stream;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  void* allocated = nullptr;
  REQUIRE(cudaMalloc(&allocated, 200) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  auto* const other = static_cast<char*>(allocated);
  Pieces pieces     = scattered(memory, 100);
  CHECK(plan_of(pieces, stream).by_kernel.size() == 100);
  CHECK(plan_of(pieces, stream, 1).single.size() == 100);
  pieces.push_back({other, memory.host, 100});
  BatchPlan const plan = plan_of(pieces, stream);
  CHECK(plan.single.size() == 101);
  CHECK(copy_single(plan, stream.get()));
  stream.wait();
  CHECK(std::equal(memory.host, memory.host + 100, other));

  std::vector<char> const pageable(200, 'p');
  auto const single_copies_to = [&](char* to) {
    BatchTables tables = tables_of(scattered(memory, 20));
    for (std::size_t i = 0; i < 2; ++i)
      tables.pageable.add({to + 100 * i, &pageable[100 * i], 100});
    BatchRules const rules = rules_for(tables, false, stream.get(), 0);
    return plan_batch(std::move(tables), rules).single.size();
  };
  CHECK(single_copies_to(memory.device + memory.bytes / 2) == 1);
  CHECK(single_copies_to(other) == 2);
  cudaFree(other);
}

}  // namespace BatchPlans
