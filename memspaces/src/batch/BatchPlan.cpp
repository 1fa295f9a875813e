// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include "../../../backend/Driver.hpp"
#include "../../../backend/Replays.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// cudaErrorInvalidValue: the runtime's error for a range that spans two registrations.
constexpr int invalid_value = 1;

// Calls copy(). Returns false if the runtime refuses a range that spans two registrations.
template <class Copy>
bool is_taken(Copy const& copy) {
  try {
    copy();
    return true;
  } catch (DeviceError const& error) {
    if (error.code() != invalid_value) throw;
    return false;
  }
}

bool copy_each(std::vector<Piece> const& pieces, Driver::Stream stream) {
  bool all_taken = true;
  for (Piece const& piece : pieces)
    all_taken &= is_taken([&] { Driver::copy(piece.dst, piece.src, piece.bytes, stream); });
  return all_taken;
}

bool is_only_device_in_use() {
  Driver::Devices devices{};
  return Driver::device_count() <= 1 || Driver::devices_in_use(devices) <= 1;
}

// Asks the driver once for neighbouring pieces of an allocation; for each of pageable memory.
bool all_is_on(int device, PieceTable const& table) {
  auto const is_reached = [device](void const* pointer, Driver::Extent& last) {
    if (!last.contains(pointer)) last = Driver::extent_of(pointer);
    return last.device < 0 || last.device == device;
  };
  Driver::Extent dst, src;
  return std::all_of(table.pieces().begin(), table.pieces().end(), [&](Piece const& piece) {
    return is_reached(piece.dst, dst) && is_reached(piece.src, src);
  });
}

// Returns the bytes of the longest pieces for the kernel; 0 if there are too few short pieces.
std::size_t most_bytes_by_kernel(std::vector<Piece> const& pieces, std::size_t longest,
                                 BatchRules const& rules) {
  CopyThresholds const& table = copy_thresholds_in_use();
  std::size_t most            = 0;
  for (std::size_t i = 0; rules.has_kernel && i < table.by_kernel.size(); ++i) {
    std::size_t const bytes = table.by_kernel[i].most_bytes;
    auto const is_short     = [bytes](Piece const& piece) { return piece.bytes <= bytes; };
    std::size_t const least =
        rules.to_device ? table.least_to_device[i] : table.by_kernel[i].least_number;
    if (pieces.size() < least) continue;
    if (longest <= bytes) return bytes;
    if (std::size_t(std::count_if(pieces.begin(), pieces.end(), is_short)) >= least) most = bytes;
  }
  return most;
}

// Takes the pieces that are no longer than `most` out of `pieces`.
std::vector<Piece> take_short(std::vector<Piece>& pieces, std::size_t longest, std::size_t most) {
  if (most == 0) return {};
  if (longest <= most) return std::exchange(pieces, {});
  std::vector<Piece> taken;
  std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(taken),
               [most](Piece const& piece) { return piece.bytes <= most; });
  std::erase_if(pieces, [most](Piece const& piece) { return piece.bytes <= most; });
  return taken;
}

char const* find_conflict_between(BatchTables const& tables) {
  PieceTable all;
  for (PieceTable const* table : {&tables.reached, &tables.pageable, &tables.on_host})
    all.add(*table);
  return all.scan(false).conflict;
}

}  // namespace

BatchRules rules_for(BatchTables const& tables, bool to_device, Driver::Stream stream, int device) {
  bool const is_only = is_only_device_in_use(),
             reaches = is_only || all_is_on(device, tables.reached),
             is_one  = reaches && (is_only || all_is_on(device, tables.pageable));
  return {is_one && !Driver::is_capturing(stream), reaches, to_device};
}

bool captures(Driver::Stream stream) { return Driver::captures(stream); }

BatchPlan plan_batch(BatchTables&& tables, BatchRules const& rules) {
  BatchPlan plan;
  plan.combines           = rules.combines;
  bool const is_one_table = tables.pageable.empty() && tables.on_host.empty();
  if (!is_one_table) plan.conflict = find_conflict_between(tables);
  if (plan.conflict != nullptr) return plan;
  PieceScan const scan = tables.reached.scan(rules.combines);
  plan.conflict        = scan.conflict;
  if (plan.conflict != nullptr) return plan;

  if (rules.combines && scan.rows.count >= copy_thresholds_in_use().regular_pieces)
    plan.rows = scan.rows;
  std::vector<Piece> pieces = std::move(tables.reached).take();
  plan.by_kernel =
      take_short(pieces, scan.longest, most_bytes_by_kernel(pieces, scan.longest, rules));
  (rules.combines ? plan.by_call : plan.single) = std::move(pieces);

  tables.pageable.scan(rules.combines);
  auto const& pageable = tables.pageable.pieces();
  plan.single.insert(plan.single.end(), pageable.begin(), pageable.end());
  return plan;
}

bool copy_rows(BatchPlan const& plan, Driver::Stream stream) {
  PieceRows const& rows = plan.rows;
  if (rows.count == 0) return false;
  Driver::Box const box{.run_bytes       = rows.first.bytes,
                        .rows            = rows.count,
                        .planes          = 1,
                        .row_pitch_dst   = rows.dst_pitch,
                        .plane_pitch_dst = rows.dst_pitch * rows.count,
                        .row_pitch_src   = rows.src_pitch,
                        .plane_pitch_src = rows.src_pitch * rows.count};
  return is_taken([&] { Driver::copy(rows.first.dst, rows.first.src, box, stream); });
}

bool copy_by_call(BatchPlan const& plan, Driver::Stream stream) {
  std::vector<Piece> const& pieces = plan.by_call;
  if (pieces.size() < copy_thresholds_in_use().batch_pieces) return copy_each(pieces, stream);
  std::vector<void*> dsts;
  std::vector<void const*> srcs;
  std::vector<std::size_t> bytes;
  for (Piece const& piece : pieces) {
    dsts.push_back(piece.dst);
    srcs.push_back(piece.src);
    bytes.push_back(piece.bytes);
  }
  return Driver::copy_batch(dsts.data(), srcs.data(), bytes.data(), pieces.size(), stream) ||
         copy_each(pieces, stream);
}

bool copy_single(BatchPlan const& plan, Driver::Stream stream) {
  return copy_each(plan.single, stream);
}

void retain_for_graph(BatchPlan const& plan, Driver::Stream stream) {
  if (plan.combines || !captures(stream)) return;
  std::vector<void const*> addresses;
  for (auto const* pieces : {&plan.by_kernel, &plan.single})
    for (Piece const& piece : *pieces) {
      addresses.push_back(piece.dst);
      addresses.push_back(piece.src);
    }
  Backend::retain_for_graph(stream, addresses);
}

}  // namespace KokkosHostSpaces::Impl
