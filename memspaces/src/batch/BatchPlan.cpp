// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/batch/PieceSweep.hpp>

#include "../../../backend/Driver.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// The number of cudaErrorInvalidValue: what the runtime says of a range in two registrations.
constexpr int invalid_value = 1;

// Does `copy`; false if the runtime says that the memory is not of one piece.
template <class Copy>
bool is_taken(Copy const& copy) {
  try {
    copy();
    return true;
  } catch (CudaError const& error) {
    if (error.code() != invalid_value) throw;
    return false;
  }
}

bool is_taken(CopyPiece const& piece, Driver::Stream stream) {
  return is_taken([&] { Driver::copy(piece.dst, piece.src, piece.bytes, stream); });
}

bool is_taken(CopyRows const& rows, Driver::Stream stream) {
  Driver::Box const box{.run_bytes       = rows.first.bytes,
                        .rows            = rows.count,
                        .planes          = 1,
                        .row_pitch_dst   = rows.dst_step,
                        .plane_pitch_dst = rows.dst_step * rows.count,
                        .row_pitch_src   = rows.src_step,
                        .plane_pitch_src = rows.src_step * rows.count};
  return is_taken([&] { Driver::copy(rows.first.dst, rows.first.src, box, stream); });
}

using ByKernel = decltype(CopyThresholds::by_kernel);

ByKernel by_kernel(BatchPlan::Use use) {
  CopyThresholds const& table = copy_thresholds_in_use();
  ByKernel known              = table.by_kernel;
  if (use == BatchPlan::Use::once) return known;
  auto const& least = use == BatchPlan::Use::again             ? table.least_again
                      : use == BatchPlan::Use::again_to_device ? table.least_again_to_device
                                                               : table.least_to_device;
  for (std::size_t i = 0; i < least.size(); ++i) known[i].least_number = least[i];
  return known;
}

// Are pieces of this length, among so many, carried by a kernel?
bool are_for_kernel(ByKernel const& by_kernel, std::size_t bytes, std::size_t pieces) {
  return std::any_of(by_kernel.begin(), by_kernel.end(), [&](CopyThresholds::Pieces const& known) {
    return pieces >= known.least_number && bytes <= known.most_bytes;
  });
}

// What one look at all pieces tells.
struct Sight {
  std::size_t longest    = 0;
  std::size_t regular    = 0;  ///< so many at equal distances and of equal length, at most
  bool some_are_pageable = false;
};

Sight look_at(std::vector<CopyPiece> const& pieces) {
  Sight sight;
  CopyPiece before{nullptr, nullptr, 0, 0, false};
  std::ptrdiff_t dst_step = 0, src_step = 0;
  std::size_t regular = 0;
  for (CopyPiece const& piece : pieces) {
    std::ptrdiff_t const to = piece.dst - before.dst, from = piece.src - before.src;
    if (piece.bytes != before.bytes)
      regular = 1;
    else
      regular = to == dst_step && from == src_step ? regular + 1 : 2;
    dst_step      = to;
    src_step      = from;
    before        = piece;
    sight.longest = std::max(sight.longest, piece.bytes);
    sight.regular = std::max(sight.regular, regular);
    sight.some_are_pageable |= piece.pageable;
  }
  return sight;
}

// Of sorted pieces.
void merge(std::vector<CopyPiece>& pieces) {
  std::size_t kept = 0;
  for (CopyPiece const& piece : pieces) {
    if (kept > 0 && continues(pieces[kept - 1], piece))
      pieces[kept - 1].bytes += piece.bytes;
    else
      pieces[kept++] = piece;
  }
  pieces.resize(kept);
}

// How many from `first` on are rows of one 2-D copy?
CopyRows rows_from(std::vector<CopyPiece> const& pieces, std::size_t first) {
  CopyPiece const& piece = pieces[first];
  CopyRows rows{piece, 1, 0, 0};
  auto const like = [&](std::size_t k) {
    return k < pieces.size() && pieces[k].bytes == piece.bytes &&
           pieces[k].pageable == piece.pageable;
  };
  auto const step = [&](std::size_t i) {
    return std::pair(pieces[i + 1].dst - pieces[i].dst, pieces[i + 1].src - pieces[i].src);
  };
  if (!like(first + 1)) return rows;
  auto const distance = step(first);
  auto const least    = std::ptrdiff_t(piece.bytes);
  auto const is_step  = [&](auto bytes) {
    return bytes >= least && bytes <= CopyRows::longest_step;
  };
  bool const walks_up = is_step(distance.first) && is_step(distance.second);
  while (walks_up && like(first + rows.count) && step(first + rows.count - 1) == distance)
    ++rows.count;
  rows.dst_step = std::size_t(distance.first);
  rows.src_step = std::size_t(distance.second);
  return rows;
}

// Takes the rows out.
std::vector<CopyRows> take_rows(std::vector<CopyPiece>& pieces, bool has_kernel,
                                ByKernel const& known) {
  std::vector<CopyRows> found;
  std::size_t i = 0, kept = 0;
  std::size_t const all = pieces.size();
  while (i < all) {
    CopyRows const rows   = rows_from(pieces, i);
    auto const for_kernel = [&] {
      return has_kernel && !rows.first.pageable && are_for_kernel(known, rows.first.bytes, all);
    };
    if (rows.count >= copy_thresholds_in_use().regular_pieces &&
        (rows.count >= copy_thresholds_in_use().regular_pieces_not_by_kernel || !for_kernel())) {
      found.push_back(rows);
      i += rows.count;
      continue;
    }
    // The last one may be the first of other rows.
    for (std::size_t n = std::max<std::size_t>(1, rows.count - 1); n > 0; --n)
      pieces[kept++] = pieces[i++];
  }
  pieces.resize(kept);
  return found;
}

// What a call of the driver for many pieces is given, kept for the next one of this thread.
struct CallLists {
  std::vector<void*> dsts;
  std::vector<void const*> srcs;
  std::vector<std::size_t> bytes;

  void clear() { dsts.clear(), srcs.clear(), bytes.clear(); }
  void add(CopyPiece const& piece) {
    if (piece.pageable) return;
    dsts.push_back(piece.dst);
    srcs.push_back(piece.src);
    bytes.push_back(piece.bytes);
  }
};

// One call for all that is not pageable: false if it was none.
bool copy_at_once(std::vector<CopyPiece> const& pieces, Driver::Stream stream) {
  if (pieces.size() < copy_thresholds_in_use().batch_pieces) return false;
  thread_local CallLists lists;
  lists.clear();
  for (CopyPiece const& piece : pieces) lists.add(piece);
  return lists.bytes.size() >= copy_thresholds_in_use().batch_pieces &&
         Driver::copy_batch(lists.dsts.data(), lists.srcs.data(), lists.bytes.data(),
                            lists.bytes.size(), stream);
}

void add_each(CopyRows const& rows, std::vector<CopyPiece>& pieces) {
  CopyPiece row = rows.first;
  for (std::size_t i = 0; i < rows.count; ++i, row.dst += rows.dst_step, row.src += rows.src_step)
    pieces.push_back(row);
}

bool copy_others(std::vector<CopyPiece> const& pieces, BatchPlan const& plan,
                 Driver::Stream stream) {
  if (pieces.size() == 1 && plan.to_device && !plan.apart &&
      copy_short(pieces[0].dst, pieces[0].src, pieces[0].bytes, stream))
    return true;
  bool const by_one_call = !plan.apart && copy_at_once(pieces, stream);
  bool all_taken         = true;
  for (CopyPiece const& piece : pieces)
    if (!by_one_call || piece.pageable) all_taken = is_taken(piece, stream) && all_taken;
  return all_taken;
}

}  // namespace

std::vector<CopyPiece> take_for_kernel(std::vector<CopyPiece>& pieces, BatchPlan::Use use) {
  ByKernel const known = by_kernel(use);
  std::array<std::size_t, std::tuple_size_v<ByKernel>> number{};
  for (CopyPiece const& piece : pieces)
    for (std::size_t i = 0; i < known.size(); ++i)
      number[i] += !piece.pageable && piece.bytes <= known[i].most_bytes;
  std::size_t most = 0, fitting = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (number[i] < known[i].least_number) continue;
    most    = known[i].most_bytes;
    fitting = number[i];
  }
  std::vector<CopyPiece> taken;
  if (fitting == 0) return taken;
  if (fitting == pieces.size()) {
    taken.swap(pieces);
    return taken;
  }
  auto const rest = std::partition(pieces.begin(), pieces.end(), [most](CopyPiece const& piece) {
    return piece.pageable || piece.bytes > most;
  });
  taken.assign(rest, pieces.end());
  pieces.erase(rest, pieces.end());
  return taken;
}

bool are_for_kernel(std::size_t longest, std::size_t pieces, BatchPlan::Use use) {
  return are_for_kernel(by_kernel(use), longest, pieces);
}

bool copy_short(void* dst, void const* src, std::size_t bytes, Driver::Stream stream) {
  return bytes <= copy_thresholds_in_use().short_bytes &&
         Driver::copy_batch(&dst, &src, &bytes, 1, stream);
}

bool copy_run(void* dst, void const* src, std::size_t bytes, Driver::Stream stream) {
  return is_taken([&] { Driver::copy(dst, src, bytes, stream); });
}

bool copy_rows(CopyRows const& rows, Driver::Stream stream) {
  // Rows in an allocation each are refused every time: the last ones of this thread.
  thread_local std::array<CopyRows, 8> refused{};
  thread_local std::size_t next = 0;
  for (CopyRows const& known : refused)
    if (known.first.dst == rows.first.dst && known.first.src == rows.first.src &&
        known.count == rows.count && known.dst_step == rows.dst_step)
      return false;
  if (is_taken(rows, stream)) return true;
  refused[next++ % refused.size()] = rows;
  return false;
}

bool copy_at_once(NearPieces const& pieces, Driver::Stream stream) {
  constexpr std::size_t most = PieceSweep::most_of_call;
  if (pieces.count > most || pieces.count < copy_thresholds_in_use().batch_pieces) return false;
  std::array<void*, most> dsts;
  std::array<void const*, most> srcs;
  std::array<std::size_t, most> bytes;
  for (std::size_t i = 0; i < pieces.count; ++i) {
    dsts[i]  = pieces.dst + pieces.ends[i].dst;
    srcs[i]  = pieces.src + pieces.ends[i].src;
    bytes[i] = pieces.lengths[i];
  }
  return Driver::copy_batch(dsts.data(), srcs.data(), bytes.data(), pieces.count, stream);
}

BatchPlan plan_batch(std::vector<CopyPiece>&& pieces, bool are_merged, bool has_kernel,
                     BatchPlan::Use use) {
  BatchPlan plan;
  if (!are_merged) merge(pieces);
  Sight const sight    = look_at(pieces);
  ByKernel const known = by_kernel(use);
  bool const all_by_kernel =
      has_kernel && !sight.some_are_pageable && are_for_kernel(known, sight.longest, pieces.size());
  if (sight.regular >= (all_by_kernel ? copy_thresholds_in_use().regular_pieces_not_by_kernel
                                      : copy_thresholds_in_use().regular_pieces))
    plan.rows = take_rows(pieces, has_kernel, known);
  else if (all_by_kernel) {
    plan.for_kernel = std::move(pieces);
    return plan;
  }
  if (has_kernel) plan.for_kernel = take_for_kernel(pieces, use);
  plan.others = std::move(pieces);
  return plan;
}

bool BatchPlan::enqueue(Driver::Stream stream) const {
  std::vector<CopyPiece> refused;
  for (CopyRows const& equal : rows)
    if (!is_taken(equal, stream)) add_each(equal, refused);
  if (refused.empty()) return copy_others(others, *this, stream);
  refused.insert(refused.end(), others.begin(), others.end());
  return copy_others(refused, *this, stream);
}

}  // namespace KokkosHostSpaces::Impl
