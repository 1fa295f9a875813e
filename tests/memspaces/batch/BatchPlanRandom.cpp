// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Plans of rows among other pieces, beside copies one by one.

#include "AlmostRows.hpp"

#include <cstdint>

namespace CopyBatches {

namespace {

// Is each of the rows one that a 2-D copy makes, and of pieces of one kind?
bool are_right(std::vector<CopyRows> const& all, std::vector<CopyPiece> const& pieces) {
  return std::all_of(all.begin(), all.end(), [&](CopyRows const& rows) {
    auto const first = std::uintptr_t(rows.first.dst), bytes = std::uintptr_t(rows.first.bytes);
    auto const is_of_other_kind = [&](CopyPiece const& piece) {
      std::uintptr_t const at = std::uintptr_t(piece.dst) - first;
      return piece.pageable != rows.first.pageable && at / rows.dst_step < rows.count &&
             at % rows.dst_step < bytes;
    };
    return rows.count >= copy_thresholds.regular_pieces && rows.dst_step >= bytes &&
           rows.src_step >= bytes && rows.src_step <= 4 * page &&
           std::none_of(pieces.begin(), pieces.end(), is_of_other_kind);
  });
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
  std::size_t const least_rows =
      has_kernel ? copy_thresholds.regular_pieces_not_by_kernel : copy_thresholds.regular_pieces;
  if (all_alike && none_pageable && count >= least_rows) {
    REQUIRE(plan.rows.size() == 1);
    REQUIRE(plan.rows[0].count == count);
    REQUIRE((plan.for_kernel.empty() && plan.others.empty()));
  }
  if (!has_kernel) REQUIRE(plan.for_kernel.empty());
  for (CopyPiece const& piece : plan.for_kernel) REQUIRE_FALSE(piece.pageable);
  REQUIRE(are_right(plan.rows, pieces));
  std::size_t in_rows = 0, least = count;
  for (CopyRows const& rows : plan.rows) {
    in_rows += rows.count;
    least = std::min(least, rows.count);
  }
  std::size_t const parts = in_rows + plan.for_kernel.size() + plan.others.size();
  if (has_kernel && none_pageable && parts > least && parts >= 24 && !plan.rows.empty())
    REQUIRE(least >= copy_thresholds.regular_pieces_not_by_kernel);
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
      Backend::Driver::copy(piece.dst, piece.src, piece.bytes, stream.get());
  Backend::Driver::fence(stream.get());
  REQUIRE(Contents(memory) == one_by_one);
}

}  // namespace

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
