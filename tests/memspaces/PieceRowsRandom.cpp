// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Slices that are rows, or nearly so, by one 2-D copy and by plans, beside copies one by one. What is
// refused leaves the memory as it was, or is what a batch copies, or refuses as well.

#include "CopyBatchCases.hpp"

#include <KokkosHostSpaces/impl/PieceRows.hpp>
#include <KokkosHostSpaces/impl/SliceSweep.hpp>

#include <cstring>
#include <limits>
#include <random>

#include <cuda.h>

namespace CopyBatches {

namespace {

using KokkosHostSpaces::Slice;

// Rows of any arrays of the memory, of which half the lists have something that others do not have.
class AlmostRows {
 public:
  AlmostRows(Memory& memory, unsigned seed) : m_memory(memory), m_random(seed) {}

  void choose() {
    std::size_t const element = std::size_t(1) << below(4), room = m_memory.bytes / element;
    m_arrays = {{m_memory.device, room}, {m_memory.host, room}, element, {}};
    switch (below(4)) {
      case 0:  // the same memory, of which a side begins later
        m_arrays.dst = {m_memory.host + element * below(64), room - 64};
        m_arrays.src = {m_memory.host + element * below(64), room - 64};
        break;
      case 1:  // to the host
        m_arrays.dst.begin = m_memory.host;
        m_arrays.src.begin = m_memory.device;
        break;
      default: break;
    }
    choose_slices();
    if (below(2) == 0) change();
    m_arrays.slices = m_slices;
  }

  ArraySlices const& arrays() const { return m_arrays; }
  std::vector<CopyPiece> pieces() const {
    std::vector<CopyPiece> all;
    for (std::size_t i = 0; i < m_slices.size(); ++i) all.push_back(m_arrays.piece(i));
    return all;
  }
  bool are_in_arrays() const {
    return std::all_of(m_slices.begin(), m_slices.end(),
                       [this](Slice const& slice) { return m_arrays.has(slice); });
  }
  std::size_t below(std::size_t n) { return std::size_t(m_random() % n); }

 private:
  void choose_slices() {
    std::size_t const counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 2 + below(40)};
    std::size_t const count = counts[below(std::size(counts))], length = 1 + below(12);
    auto const begin_and_step = [&](std::size_t extent) {
      std::size_t const most = std::min<std::size_t>(40, extent / (count + 1)),
                        step = below(3) == 0 ? length : std::max(length, below(most + 1));
      return std::pair(below(extent - std::min(extent - 1, (count - 1) * step + length)), step);
    };
    auto const [dst, dst_step] = begin_and_step(m_arrays.dst.extent);
    auto const [src, src_step] = begin_and_step(m_arrays.src.extent);
    m_slices.clear();
    for (std::size_t i = 0; i < count; ++i)
      m_slices.push_back({dst + i * dst_step, src + i * src_step, length});
  }

  void change() {
    Slice& any = m_slices[below(m_slices.size())];
    switch (below(12)) {
      case 0: any.count = 0; break;
      case 1: any.count += 1; break;
      case 2: m_slices.back().count -= 1; break;
      case 3: any.dst += 1; break;
      case 4: m_slices.back().src += 1; break;
      case 5: any = m_slices.front(); break;
      case 6: std::reverse(m_slices.begin(), m_slices.end()); break;
      case 7: std::swap(any, m_slices.back()); break;
      case 8: any.dst = m_arrays.dst.extent - any.count + below(2); break;
      case 9: any.src = std::numeric_limits<std::size_t>::max() - below(3); break;
      case 10: m_slices.push_back(any); break;
      default:
        for (Slice& slice : m_slices) slice.src = any.src;
    }
  }

  Memory& m_memory;
  std::mt19937_64 m_random;
  std::vector<Slice> m_slices;
  ArraySlices m_arrays{};
};

// By their definition, pair by pair.
bool are_rows(std::vector<CopyPiece> const& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].bytes == 0 || pieces[i].bytes != pieces[0].bytes) return false;
    if (i == 0) continue;
    std::ptrdiff_t const to     = pieces[i].dst - pieces[i - 1].dst,
                         from   = pieces[i].src - pieces[i - 1].src,
                         length = std::ptrdiff_t(pieces[0].bytes);
    if (to != pieces[1].dst - pieces[0].dst || from != pieces[1].src - pieces[0].src) return false;
    if (to < length || from < length || (to == length && from == length)) return false;
  }
  return true;
}

void copy_one_by_one(std::vector<CopyPiece> const& pieces) {
  for (CopyPiece const& piece : pieces) std::memmove(piece.dst, piece.src, piece.bytes);
}

// Those that are made: a slice of the same memory on both sides is not.
CopyBatch batch_of(std::vector<CopyPiece> const& pieces, CopyBatch::Neighbours neighbours) {
  CopyBatch batch(neighbours);
  for (CopyPiece const& piece : pieces)
    if (piece.dst != piece.src) batch.add(piece);
  return batch;
}

// Does a piece lie in two registrations? A View does not, but several may.
bool is_split(Memory const& memory, std::vector<CopyPiece> const& pieces) {
  std::ptrdiff_t const of_each = std::ptrdiff_t(memory.bytes / memory.locked.size());
  auto const side_is_split     = [&](char const* begin, std::size_t bytes) {
    std::ptrdiff_t const first = begin - memory.host;
    bool const is_on_host      = first >= 0 && first < std::ptrdiff_t(memory.bytes);
    return is_on_host && first / of_each != (first + std::ptrdiff_t(bytes) - 1) / of_each;
  };
  return std::any_of(pieces.begin(), pieces.end(), [&](CopyPiece const& piece) {
    return piece.bytes > 0 &&
           (side_is_split(piece.dst, piece.bytes) || side_is_split(piece.src, piece.bytes));
  });
}

struct RowsSeen {
  int by_rows = 0, others = 0, interleaved = 0, refused = 0, conflicts = 0, outside = 0;
};

// As deep_copy_all does it.
void compare_rows(Memory& memory, AlmostRows& lists, DeviceWork::Stream& stream, RowsSeen& seen) {
  lists.choose();
  Contents const before(memory);
  Calls const calls_before;
  PieceRows rows;
  bool const swept = lists.arrays().sweep(rows);
  if (!lists.are_in_arrays()) {
    ++seen.outside;
    REQUIRE_FALSE(swept);
    return;
  }
  std::vector<CopyPiece> const pieces = lists.pieces();
  REQUIRE(swept == are_rows(pieces));
  bool const has_conflict =
      batch_of(pieces, CopyBatch::Neighbours::apart).find_conflict().has_value();
  if (lists.below(6) == 0)
    FakeCuda::fail_nth_call("cudaMemcpy2DAsync", 1 + lists.below(2), cudaErrorInvalidValue);
  bool const are_apart = swept && rows.sides_are_apart(),
             done      = are_apart && copy_rows(rows.rows(), stream.get());
  FakeCuda::fail_no_more();
  Driver::fence(stream.get());
  if (has_conflict) REQUIRE_FALSE(are_apart);
  if (!are_apart) REQUIRE(Contents(memory) == before);
  seen.conflicts += has_conflict;
  ++(done ? seen.by_rows : are_apart ? seen.refused : swept ? seen.interleaved : seen.others);
  if (has_conflict || is_split(memory, pieces)) return;
  if (done) REQUIRE(Calls().boxes <= calls_before.boxes + 1);
  Contents const after(memory);
  before.put(memory);
  copy_one_by_one(pieces);
  Contents const one_by_one(memory);
  if (done) REQUIRE(after == one_by_one);
  if (done) return;
  after.put(memory);
  CopyBatch batch = batch_of(
      pieces, lists.below(2) == 0 ? CopyBatch::Neighbours::apart : CopyBatch::Neighbours::merged);
  REQUIRE_FALSE(batch.find_conflict());
  if (batch.enqueue(stream.get(), -1).refused)
    for (CopyPiece const& piece : pieces)
      Driver::copy(piece.dst, piece.src, piece.bytes, stream.get());
  Driver::fence(stream.get());
  REQUIRE(Contents(memory) == one_by_one);
}

struct PlansSeen {
  int rows = 0, some_rows = 0, kernels = 0, others = 0;
};

// Several lists as one: groups of rows among others, and pageable ones.
std::vector<CopyPiece> choose_groups(Memory const& memory, AlmostRows& lists) {
  std::vector<CopyPiece> all;
  std::size_t const groups = 1 + lists.below(3);
  for (std::size_t group = 0; group < groups; ++group) {
    do lists.choose();
    while (!lists.are_in_arrays());
    bool const pageable = lists.below(6) == 0;
    for (CopyPiece piece : lists.pieces()) {
      bool const to_device = piece.dst >= memory.device && piece.dst < memory.device + memory.bytes;
      if (!to_device || piece.bytes == 0) continue;
      piece.pageable = lists.below(200) == 0 ? !pageable : pageable;
      piece.pair     = std::uint32_t(all.size());
      all.push_back(piece);
    }
  }
  return all;
}

void compare_plan(Memory& memory, AlmostRows& lists, DeviceWork::Stream& stream, PlansSeen& seen) {
  using Use                           = BatchPlan::Use;
  std::vector<CopyPiece> const pieces = choose_groups(memory, lists);
  CopyBatch batch                     = batch_of(pieces, CopyBatch::Neighbours::apart);
  if (batch.find_conflict() || batch.empty() || is_split(memory, pieces)) return;
  std::vector<CopyPiece> sorted = batch.pieces();
  bool const has_kernel = lists.below(3) > 0, all_alike = are_rows(sorted),
             none_pageable = std::none_of(sorted.begin(), sorted.end(),
                                          [](auto const&p) { return p.pageable; });
  Use const uses[]         = {Use::once, Use::once_to_device, Use::again, Use::again_to_device};
  std::size_t const count  = sorted.size();
  BatchPlan const plan     = plan_batch(std::move(sorted), false, has_kernel, uses[lists.below(4)]);
  if (all_alike && none_pageable && count >= copy_thresholds.regular_pieces) {
    REQUIRE(plan.rows.size() == 1);
    REQUIRE(plan.rows[0].count == count);
    REQUIRE((plan.for_kernel.empty() && plan.others.empty()));
  }
  if (!has_kernel) REQUIRE(plan.for_kernel.empty());
  for (CopyPiece const& piece : plan.for_kernel) REQUIRE_FALSE(piece.pageable);
  for (CopyRows const& rows : plan.rows) REQUIRE(rows.count >= copy_thresholds.regular_pieces);
  seen.rows += plan.rows.size() == 1 && plan.rows[0].count == count;
  seen.some_rows += !plan.rows.empty() && !(plan.for_kernel.empty() && plan.others.empty());
  seen.kernels += !plan.for_kernel.empty();
  seen.others += !plan.others.empty();

  Contents const before(memory);
  copy_one_by_one(pieces);
  Contents const one_by_one(memory);
  before.put(memory);
  if (lists.below(4) == 0)
    FakeCuda::fail_nth_call("cudaMemcpy2DAsync", 1 + lists.below(2), cudaErrorInvalidValue);
  copy_one_by_one(plan.for_kernel);
  bool const all_taken = plan.enqueue(stream.get());
  FakeCuda::fail_no_more();
  if (!all_taken)
    for (CopyPiece const& piece : pieces)
      Driver::copy(piece.dst, piece.src, piece.bytes, stream.get());
  Driver::fence(stream.get());
  REQUIRE(Contents(memory) == one_by_one);
}

}  // namespace

TEST_CASE("slices that are rows arrive as by single copies, others are told from them",
          "[copy_batch][random]") {
  for (std::size_t const registrations : {1, 2, 4}) {
    Memory memory(4 * page, registrations);
    DeviceWork::Stream stream;
    AlmostRows lists(memory, unsigned(registrations));
    RowsSeen seen;
    for (int round = 0; round < 4000; ++round) {
      CAPTURE(registrations, round);
      compare_rows(memory, lists, stream, seen);
    }
    CAPTURE(seen.by_rows, seen.others, seen.interleaved, seen.refused, seen.conflicts,
            seen.outside);
    CHECK((seen.by_rows > 400 && seen.others > 400 && seen.interleaved > 40));
    CHECK((seen.refused > 100 && seen.conflicts > 100 && seen.outside > 40));
  }
}

TEST_CASE("whatever is planned of rows arrives as by single copies", "[copy_batch][random]") {
  for (std::size_t const registrations : {1, 2}) {
    Memory memory(4 * page, registrations);
    DeviceWork::Stream stream;
    AlmostRows lists(memory, unsigned(registrations));
    PlansSeen seen;
    for (int round = 0; round < 4000; ++round) {
      CAPTURE(registrations, round);
      compare_plan(memory, lists, stream, seen);
    }
    CAPTURE(seen.rows, seen.some_rows, seen.kernels, seen.others);
    CHECK((seen.rows > 200 && seen.some_rows > 40 && seen.kernels > 100 && seen.others > 100));
  }
}

}  // namespace CopyBatches
