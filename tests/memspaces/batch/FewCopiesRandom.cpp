// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Few slices by one call, beside copies one by one: of any arrays and any numbers. What is refused
// leaves the memory as it was, and is what a batch copies, or refuses as well.

#include "CopyBatchCases.hpp"

#include <KokkosHostSpaces/impl/batch/FewCopies.hpp>
#include <KokkosHostSpaces/impl/batch/SliceSweep.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include <cuda.h>

namespace CopyBatches {

using KokkosHostSpaces::Slice;

class RandomSlices {
 public:
  RandomSlices(Memory& memory, unsigned seed) : m_memory(memory), m_random(seed) {}

  void choose() {
    m_slices.clear();
    std::size_t const element = m_elements[below(4)], room = 1 + below(m_memory.bytes / element);
    m_arrays = {{m_memory.device, room}, {m_memory.host, 1 + below(room)}, element, {}};
    switch (below(4)) {
      case 0: m_arrays.dst.begin = m_memory.host + page * below(2); break;  // the same memory
      case 1:                                                               // to the host
        m_arrays.dst.begin = m_memory.host;
        m_arrays.src.begin = m_memory.device;
        break;
      default: break;
    }
    m_arrays.dst.extent     = std::min(m_arrays.dst.extent, (m_memory.bytes - page) / element);
    std::size_t const count = 1 + below(FewCopies::most);
    while (m_slices.size() < count) m_slices.push_back(next());
    if (below(3) == 0) std::shuffle(m_slices.begin(), m_slices.end(), m_random);
    m_arrays.slices = m_slices;
  }

  ArraySlices const& arrays() const { return m_arrays; }
  bool are_in_arrays() const {
    return std::all_of(m_slices.begin(), m_slices.end(),
                       [this](Slice const& slice) { return m_arrays.has(slice); });
  }
  CopyBatch batch() const {
    CopyBatch batch;
    for (std::size_t i = 0; i < m_slices.size(); ++i) {
      CopyPiece const piece = m_arrays.piece(i);
      if (piece.dst != piece.src) batch.add(piece);
    }
    return batch;
  }
  std::size_t below(std::size_t n) { return std::size_t(m_random() % n); }

 private:
  Slice next() {
    std::size_t const to = m_arrays.dst.extent, from = m_arrays.src.extent;
    if (below(100) == 0)  // beyond, so far that a sum of two of them begins again
      return {std::numeric_limits<std::size_t>::max() - below(3), below(from), 1 + below(3)};
    if (!m_slices.empty() && below(3) == 0) {
      Slice const& before = m_slices.back();
      switch (below(4)) {
        case 0: return before;
        case 1: return {before.dst + before.count, before.src + before.count, before.count};
        case 2: return {before.dst + 2 * before.count, before.src + 3 * before.count, before.count};
        default: return {before.dst + before.count, below(from), before.count};
      }
    }
    std::size_t const longest = below(4) == 0 ? std::min(to, from) : std::min<std::size_t>(40, to);
    return {below(to), below(from), below(1 + longest)};
  }

  static constexpr std::size_t m_elements[] = {1, 4, 8, 24};
  Memory& m_memory;
  std::mt19937_64 m_random;
  std::vector<Slice> m_slices;
  ArraySlices m_arrays{};
};

struct Outcomes {
  int by_call = 0, refused = 0, conflicts = 0;
};

// As deep_copy_all does it.
void compare(Memory& memory, RandomSlices& slices, DeviceWork::Stream& stream, Outcomes& seen) {
  slices.choose();
  ArraySlices const& arrays = slices.arrays();
  Contents const before(memory);
  bool const is_taken = slices.below(5) > 0;
  if (!is_taken) FakeCuda::fail_nth_call("cuMemcpyBatchAsync", 1, CUDA_ERROR_INVALID_VALUE);
  FewCopies copies;
  bool const done = arrays.sweep(copies) && copies.are_plain(copy_thresholds.regular_pieces) &&
                    copy_few(copies, slices.below(2) == 0, stream.get());
  FakeCuda::fail_nth_call("cuMemcpyBatchAsync", 0, CUDA_SUCCESS);
  Backend::Driver::fence(stream.get());
  Contents const after(memory);
  if (!done) REQUIRE(after == before);
  if (!slices.are_in_arrays()) {
    REQUIRE_FALSE(done);
    return;
  }
  CopyBatch batch = slices.batch();
  if (batch.find_conflict()) {
    ++seen.conflicts;
    REQUIRE_FALSE(done);
    return;
  }
  before.put(memory);
  for (std::size_t i = 0; i < arrays.slices.size(); ++i) {
    CopyPiece const piece = arrays.piece(i);
    std::memmove(piece.dst, piece.src, piece.bytes);
  }
  Contents const one_by_one(memory);
  if (done) REQUIRE(after == one_by_one);
  ++(done ? seen.by_call : seen.refused);
}

TEST_CASE("few slices by one call arrive as by single copies, or nothing is done",
          "[few_copies][random]") {
  for (std::size_t const registrations : {1, 2, 4}) {
    Memory memory(4 * page, registrations);
    DeviceWork::Stream stream;
    RandomSlices slices(memory, unsigned(registrations));
    Outcomes seen;
    for (int round = 0; round < 4000; ++round) {
      CAPTURE(registrations, round);
      compare(memory, slices, stream, seen);
    }
    CHECK((seen.by_call > 400 && seen.refused > 100 && seen.conflicts > 100));
  }
}

}  // namespace CopyBatches
