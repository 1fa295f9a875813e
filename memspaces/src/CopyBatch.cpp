// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>

#include "../../backend/Driver.hpp"
#include "../../backend/Replays.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

namespace KokkosHostSpaces::Impl {

namespace {

// The number of cudaErrorInvalidValue: what the runtime says of a range in two registrations.
constexpr int invalid_value = 1;

bool by_dst(CopyPiece const& a, CopyPiece const& b) { return a.dst < b.dst; }

// From so many pieces on by digits: 4096 of them in 30 us instead of 100.
constexpr std::size_t many_to_sort = 128;

// By the bits of the destinations that differ, some at a time, from the last ones on.
void sort_by_digits(std::vector<CopyPiece>& pieces) {
  constexpr int bits = 11;
  auto const key     = [](CopyPiece const& piece) {
    return reinterpret_cast<std::uintptr_t>(piece.dst);
  };
  std::uintptr_t differ = 0;
  for (CopyPiece const& piece : pieces) differ |= key(piece) ^ key(pieces.front());
  std::vector<CopyPiece> sorted(pieces.size());
  while (differ != 0) {
    int const shift = std::countr_zero(differ);
    std::array<std::size_t, std::size_t(1) << bits> place{};
    auto const digit = [&](CopyPiece const& piece) {
      return key(piece) >> shift & (place.size() - 1);
    };
    for (CopyPiece const& piece : pieces) ++place[digit(piece)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t(0));
    for (CopyPiece const& piece : pieces) sorted[place[digit(piece)]++] = piece;
    pieces.swap(sorted);
    differ &= ~(std::uintptr_t(place.size() - 1) << shift);
  }
}

bool overlap(char const* a, std::size_t a_bytes, char const* b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

bool is_only_device_in_use() {
  Driver::Devices devices{};
  return Driver::device_count() <= 1 || Driver::devices_in_use(devices) <= 1;
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

// Are pieces of this length, among so many, carried by a kernel?
bool are_for_kernel(std::size_t bytes, std::size_t pieces) {
  auto const& by_kernel = copy_thresholds_in_use().by_kernel;
  return std::any_of(by_kernel.begin(), by_kernel.end(), [&](CopyThresholds::Pieces const& known) {
    return pieces >= known.least_number && bytes <= known.most_bytes;
  });
}

// What a call of the driver for many pieces is given, kept for the next one of this thread.
struct CallLists {
  std::vector<void*> dsts;
  std::vector<void const*> srcs;
  std::vector<std::size_t> bytes;

  void clear() {
    dsts.clear();
    srcs.clear();
    bytes.clear();
  }
  void add(CopyPiece const& piece) {
    dsts.push_back(piece.dst);
    srcs.push_back(piece.src);
    bytes.push_back(piece.bytes);
  }
};

}  // namespace

bool CopyBatch::may_merge(Driver::Stream stream) {
  return is_only_device_in_use() && !Driver::is_capturing(stream);
}

void CopyBatch::sort() {
  if (std::is_sorted(m_pieces.begin(), m_pieces.end(), by_dst)) return;
  if (m_pieces.size() < many_to_sort)
    std::sort(m_pieces.begin(), m_pieces.end(), by_dst);
  else
    sort_by_digits(m_pieces);
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

// Of sorted pieces.
void CopyBatch::merge() {
  std::size_t kept = 0;
  for (CopyPiece const& piece : m_pieces) {
    if (kept > 0 && continues(m_pieces[kept - 1], piece))
      m_pieces[kept - 1].bytes += piece.bytes;
    else
      m_pieces[kept++] = piece;
  }
  m_pieces.erase(m_pieces.begin() + std::ptrdiff_t(kept), m_pieces.end());
}

std::vector<CopyRows> CopyBatch::find_rows(bool has_kernel) const {
  std::vector<CopyRows> found;
  auto const distance = [&](std::size_t i) {
    CopyPiece const &a = m_pieces[i], &b = m_pieces[i + 1];
    return std::pair(b.dst - a.dst, b.src - a.src);
  };
  std::size_t i = 0;
  while (i + 1 < m_pieces.size()) {
    CopyPiece const& piece = m_pieces[i];
    CopyRows rows{i, 1};
    auto const like = [&](std::size_t k) {
      return k < m_pieces.size() && m_pieces[k].bytes == piece.bytes &&
             m_pieces[k].pageable == piece.pageable;
    };
    if (like(i + 1)) {
      auto const step = distance(i);
      bool const walks_up =
          step.first >= std::ptrdiff_t(piece.bytes) && step.second >= std::ptrdiff_t(piece.bytes);
      while (walks_up && like(i + rows.count) && distance(i + rows.count - 1) == step) ++rows.count;
    }
    auto const by_kernel = [&] {
      return has_kernel && !piece.pageable && are_for_kernel(piece.bytes, m_pieces.size());
    };
    if (rows.count >= copy_thresholds_in_use().regular_pieces &&
        (rows.count >= copy_thresholds_in_use().regular_pieces_not_by_kernel || !by_kernel())) {
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

bool CopyBatch::copy_rows(CopyRows const& rows, Driver::Stream stream) const {
  CopyPiece const &first = m_pieces[rows.first], &second = m_pieces[rows.first + 1];
  std::size_t const dst = std::size_t(second.dst - first.dst),
                    src = std::size_t(second.src - first.src);
  Driver::Box const box{.run_bytes       = first.bytes,
                        .rows            = rows.count,
                        .planes          = 1,
                        .row_pitch_dst   = dst,
                        .plane_pitch_dst = dst * rows.count,
                        .row_pitch_src   = src,
                        .plane_pitch_src = src * rows.count};
  return is_taken([&] { Driver::copy(first.dst, first.src, box, stream); });
}

// Takes those out that a kernel shall carry.
std::vector<CopyPiece> CopyBatch::take_for_kernel() {
  auto const& known = copy_thresholds_in_use().by_kernel;
  std::array<std::size_t, std::tuple_size_v<decltype(CopyThresholds::by_kernel)>> number{};
  for (CopyPiece const& piece : m_pieces)
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
  if (fitting == m_pieces.size()) {
    taken.swap(m_pieces);
    return taken;
  }
  auto const rest = std::partition(
      m_pieces.begin(), m_pieces.end(),
      [most](CopyPiece const& piece) { return piece.pageable || piece.bytes > most; });
  taken.assign(rest, m_pieces.end());
  m_pieces.erase(rest, m_pieces.end());
  return taken;
}

// False if the driver does not take a piece.
bool CopyBatch::copy_at_once(Driver::Stream stream) const {
  bool by_one_call = false;
  if (m_pieces.size() >= copy_thresholds_in_use().batch_pieces) {
    thread_local CallLists lists;
    lists.clear();
    for (CopyPiece const& piece : m_pieces)
      if (!piece.pageable) lists.add(piece);
    by_one_call = lists.bytes.size() >= copy_thresholds_in_use().batch_pieces &&
                  Driver::copy_batch(lists.dsts.data(), lists.srcs.data(), lists.bytes.data(),
                                     lists.bytes.size(), stream);
  }
  bool all_taken = true;
  for (CopyPiece const& piece : m_pieces)
    if (!by_one_call || piece.pageable)
      all_taken =
          is_taken([&] { Driver::copy(piece.dst, piece.src, piece.bytes, stream); }) && all_taken;
  return all_taken;
}

CopyBatch::Rest CopyBatch::enqueue(Driver::Stream stream, int kernel_device) {
  if (!m_merges && (m_pieces.size() == 1 || Driver::is_capturing(stream) ||
                    !(is_only_device_in_use() || all_of_it_is_on(kernel_device)))) {
    for (CopyPiece const& piece : m_pieces) {
      keep_for_replays(stream, piece.dst, piece.src);
      Driver::copy(piece.dst, piece.src, piece.bytes, stream);
    }
    return {};
  }
  merge();
  bool const has_kernel = kernel_device >= 0;
  auto const rows       = find_rows(has_kernel);
  for (CopyRows const& equal : rows)
    if (copy_rows(equal, stream))
      for (std::size_t i = 0; i < equal.count; ++i) m_pieces[equal.first + i].bytes = 0;
  if (!rows.empty())
    std::erase_if(m_pieces, [](CopyPiece const& piece) { return piece.bytes == 0; });
  Rest rest;
  if (has_kernel) rest.for_kernel = take_for_kernel();
  rest.refused = !copy_at_once(stream);
  return rest;
}

}  // namespace KokkosHostSpaces::Impl
