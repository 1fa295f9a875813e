// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>

#include "../../backend/Driver.hpp"
#include "../../backend/Replays.hpp"

#include <algorithm>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

namespace {

// The number of cudaErrorInvalidValue: what the runtime says of a range in two registrations.
constexpr int invalid_value = 1;

bool by_dst(CopyPiece const& a, CopyPiece const& b) { return a.dst < b.dst; }

bool overlap(char const* a, std::size_t a_bytes, char const* b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

bool is_only_device_in_use() {
  Driver::Devices devices{};
  return Driver::devices_in_use(devices) <= 1;
}

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

}  // namespace

void CopyBatch::sort() {
  if (!std::is_sorted(m_pieces.begin(), m_pieces.end(), by_dst))
    std::sort(m_pieces.begin(), m_pieces.end(), by_dst);
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> CopyBatch::find_conflict() {
  sort();
  char const *first_src = nullptr, *src_end = nullptr;
  for (std::size_t i = 0; i < m_pieces.size(); ++i) {
    CopyPiece const& piece = m_pieces[i];
    if (i > 0 && m_pieces[i - 1].dst + m_pieces[i - 1].bytes > piece.dst)
      return std::pair(m_pieces[i - 1].pair, piece.pair);
    if (i == 0 || piece.src < first_src) first_src = piece.src;
    if (piece.src + piece.bytes > src_end) src_end = piece.src + piece.bytes;
  }
  if (m_pieces.empty() ||
      !overlap(m_pieces.front().dst,
               std::size_t(m_pieces.back().dst + m_pieces.back().bytes - m_pieces.front().dst),
               first_src, std::size_t(src_end - first_src)))
    return std::nullopt;
  // Destinations do not overlap, so that each source meets those from the last one that begins
  // before it on.
  for (CopyPiece const& piece : m_pieces) {
    auto const read = CopyPiece{const_cast<char*>(piece.src), nullptr, 0, 0, false};
    auto other      = std::upper_bound(m_pieces.begin(), m_pieces.end(), read, by_dst);
    if (other != m_pieces.begin()) --other;
    for (; other != m_pieces.end() && other->dst < piece.src + piece.bytes; ++other)
      if (overlap(other->dst, other->bytes, piece.src, piece.bytes))
        return std::pair(other->pair, piece.pair);
  }
  return std::nullopt;
}

std::vector<CopyRun> CopyBatch::merge() const {
  std::vector<CopyRun> runs;
  runs.reserve(m_pieces.size());
  for (std::size_t i = 0; i < m_pieces.size(); ++i) {
    CopyPiece const& piece = m_pieces[i];
    if (!runs.empty()) {
      CopyRun& run            = runs.back();
      CopyPiece const& before = m_pieces[run.first];
      if (piece.dst == before.dst + run.bytes && piece.src == before.src + run.bytes &&
          piece.pageable == before.pageable) {
        ++run.count;
        run.bytes += piece.bytes;
        continue;
      }
    }
    runs.push_back({i, 1, piece.bytes});
  }
  return runs;
}

std::vector<CopyRows> CopyBatch::find_rows(std::vector<CopyRun> const& runs,
                                           bool has_kernel) const {
  std::vector<CopyRows> found;
  auto const distance = [&](std::size_t i) {
    CopyPiece const &a = m_pieces[runs[i].first], &b = m_pieces[runs[i + 1].first];
    return std::pair(b.dst - a.dst, b.src - a.src);
  };
  std::size_t i = 0;
  while (i < runs.size()) {
    CopyRun const& run = runs[i];
    CopyRows rows{i, 1};
    auto const like = [&](std::size_t k) {
      return k < runs.size() && runs[k].bytes == run.bytes &&
             m_pieces[runs[k].first].pageable == m_pieces[run.first].pageable;
    };
    if (like(i + 1)) {
      auto const step = distance(i);
      bool const walks_up =
          step.first >= std::ptrdiff_t(run.bytes) && step.second >= std::ptrdiff_t(run.bytes);
      while (walks_up && like(i + rows.count) && distance(i + rows.count - 1) == step) ++rows.count;
    }
    bool const by_kernel = has_kernel && !m_pieces[run.first].pageable &&
                           run.bytes <= copy_thresholds.kernel_piece_bytes &&
                           runs.size() >= copy_thresholds.kernel_pieces;
    if (rows.count >= (by_kernel ? copy_thresholds.regular_pieces_not_by_kernel
                                 : copy_thresholds.regular_pieces)) {
      found.push_back(rows);
      i += rows.count;
    } else {
      // The last one may be the first of other rows.
      i += std::max<std::size_t>(1, rows.count - 1);
    }
  }
  return found;
}

bool CopyBatch::all_of_it_is_on(int device) const {
  auto const is_reached = [&](void const* pointer) {
    int const at = Driver::device_of(pointer);
    return at < 0 || at == device;
  };
  return std::all_of(m_pieces.begin(), m_pieces.end(), [&](CopyPiece const& piece) {
    return is_reached(piece.dst) && is_reached(piece.src);
  });
}

CopyPiece CopyBatch::merged(CopyRun const& run) const {
  CopyPiece piece = m_pieces[run.first];
  piece.bytes     = run.bytes;
  return piece;
}

// Neighbours may lie in two allocations that touch: then each goes by itself.
void CopyBatch::copy_run(CopyRun const& run, Driver::Stream stream) const {
  auto const copy = [&](CopyPiece const& piece) {
    Driver::copy(piece.dst, piece.src, piece.bytes, stream);
  };
  if (run.count == 1 || !is_taken([&] { copy(merged(run)); }))
    for (std::size_t i = 0; i < run.count; ++i) copy(m_pieces[run.first + i]);
}

bool CopyBatch::copy_rows(std::vector<CopyRun> const& runs, CopyRows const& rows,
                          Driver::Stream stream) const {
  CopyPiece const &first  = m_pieces[runs[rows.first].first],
                  &second = m_pieces[runs[rows.first + 1].first];
  std::size_t const dst   = std::size_t(second.dst - first.dst),
                    src   = std::size_t(second.src - first.src);
  Driver::Box const box{.run_bytes       = runs[rows.first].bytes,
                        .rows            = rows.count,
                        .planes          = 1,
                        .row_pitch_dst   = dst,
                        .plane_pitch_dst = dst * rows.count,
                        .row_pitch_src   = src,
                        .plane_pitch_src = src * rows.count};
  return is_taken([&] { Driver::copy(first.dst, first.src, box, stream); });
}

void CopyBatch::copy_runs(std::vector<CopyRun> const& runs, Driver::Stream stream) const {
  std::vector<void*> dsts;
  std::vector<void const*> srcs;
  std::vector<std::size_t> bytes;
  for (CopyRun const& run : runs) {
    CopyPiece const& piece = m_pieces[run.first];
    if (piece.pageable) continue;
    dsts.push_back(piece.dst);
    srcs.push_back(piece.src);
    bytes.push_back(run.bytes);
  }
  bool const by_one_call =
      bytes.size() >= copy_thresholds.batch_pieces &&
      Driver::copy_batch(dsts.data(), srcs.data(), bytes.data(), bytes.size(), stream);
  for (CopyRun const& run : runs)
    if (!by_one_call || m_pieces[run.first].pageable) copy_run(run, stream);
}

std::vector<CopyPiece> CopyBatch::enqueue(Driver::Stream stream, int kernel_device) {
  // A call that is refused, as one that spans two allocations, is no good while a graph is made; and
  // the driver takes what begins on a device for memory of that one.
  if (m_pieces.size() == 1 || Driver::is_capturing(stream) ||
      !(is_only_device_in_use() || all_of_it_is_on(kernel_device))) {
    for (CopyPiece const& piece : m_pieces) {
      keep_for_replays(stream, piece.dst, piece.src);
      Driver::copy(piece.dst, piece.src, piece.bytes, stream);
    }
    return {};
  }
  std::vector<CopyRun> const runs = merge();
  bool const has_kernel           = kernel_device >= 0;
  std::vector<CopyRun> large, small;
  (has_kernel ? small : large).reserve(runs.size());
  auto const leave = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      bool const by_kernel = has_kernel && !m_pieces[runs[i].first].pageable &&
                             runs[i].bytes <= copy_thresholds.kernel_piece_bytes;
      (by_kernel ? small : large).push_back(runs[i]);
    }
  };
  std::size_t next = 0;
  for (CopyRows const& rows : find_rows(runs, has_kernel)) {
    leave(next, rows.first);
    next = rows.first + rows.count;
    if (!copy_rows(runs, rows, stream)) leave(rows.first, next);
  }
  leave(next, runs.size());
  std::vector<CopyPiece> for_kernel;
  if (small.size() >= copy_thresholds.kernel_pieces) {
    for_kernel.reserve(small.size());
    for (CopyRun const& run : small) for_kernel.push_back(merged(run));
  } else {
    large.insert(large.end(), small.begin(), small.end());
  }
  copy_runs(large, stream);
  return for_kernel;
}

}  // namespace KokkosHostSpaces::Impl
