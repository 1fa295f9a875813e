// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Slices that are rows, or nearly so, by one 2-D copy, beside copies one by one. What is refused
// leaves the memory as it was, or is what a batch copies, or refuses as well.

#include "AlmostRows.hpp"

#include <KokkosHostSpaces/impl/batch/PieceRows.hpp>

namespace CopyBatches {

namespace {

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
  REQUIRE(swept == (pieces.size() > 2 && are_rows(pieces)));
  bool const has_conflict =
      batch_of(pieces, CopyBatch::Neighbours::apart).find_conflict().has_value();
  if (lists.below(6) == 0)
    FakeCuda::fail_nth_call("cudaMemcpy2DAsync", 1 + lists.below(2), cudaErrorInvalidValue);
  bool const are_apart = swept && rows.sides_are_apart(),
             done      = are_apart && copy_rows(rows.rows(), stream.get());
  FakeCuda::fail_no_more();
  Backend::Driver::fence(stream.get());
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
      Backend::Driver::copy(piece.dst, piece.src, piece.bytes, stream.get());
  Backend::Driver::fence(stream.get());
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

}  // namespace CopyBatches
