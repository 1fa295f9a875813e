// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/core/Replays.hpp>

#include "../../../backend/Driver.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// Moved by thousands: with a default for a member it is copied member by member, at 10 ns more each.
static_assert(std::is_trivial_v<CopyPiece>);

bool by_dst(CopyPiece const& a, CopyPiece const& b) { return a.dst < b.dst; }

// From so many pieces on by digits: of a shuffled batch, 64 cost 12 ns each to plan instead of 18.
constexpr std::size_t many_to_sort = 32;

// Pages that are new cost more than all that is done with the pieces in them, so that a thread keeps
// memory for its next batch: so many pieces at most, of 32 bytes.
constexpr std::size_t most_kept = std::size_t(1) << 16;
thread_local std::vector<CopyPiece> kept_memory;

// Of a digit: so many that places are about as many as pieces.
int bits_of_digit(std::size_t pieces) { return std::clamp(int(std::bit_width(pieces)), 8, 13); }

// By the bits of the distances from the first destination that differ, some at a time, from the last
// ones on.
void sort_by_digits(std::vector<CopyPiece>& pieces) {
  int const bits              = bits_of_digit(pieces.size());
  std::size_t const mask      = (std::size_t(1) << bits) - 1;
  char const* const first_dst = std::min_element(pieces.begin(), pieces.end(), by_dst)->dst;
  auto const key     = [&](CopyPiece const& piece) { return std::size_t(piece.dst - first_dst); };
  std::size_t differ = 0;
  for (CopyPiece const& piece : pieces) differ |= key(piece);
  thread_local std::vector<CopyPiece> sorted;
  sorted.resize(pieces.size());
  std::vector<std::uint32_t> place;
  while (differ != 0) {
    int const shift  = std::countr_zero(differ);
    auto const digit = [&](CopyPiece const& piece) { return key(piece) >> shift & mask; };
    place.assign(mask + 1, 0);
    for (CopyPiece const& piece : pieces) ++place[digit(piece)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::uint32_t(0));
    for (CopyPiece const& piece : pieces) sorted[place[digit(piece)]++] = piece;
    pieces.swap(sorted);
    differ &= ~(mask << shift);
  }
  if (sorted.size() > most_kept) sorted = {};
}

bool overlap(char const* a, std::size_t a_bytes, char const* b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

bool is_only_device_in_use() {
  Driver::Devices devices{};
  return Driver::device_count() <= 1 || Driver::devices_in_use(devices) <= 1;
}

}  // namespace

bool CopyBatch::may_merge(Driver::Stream stream) {
  return is_only_device_in_use() && !Driver::is_capturing(stream);
}

bool CopyBatch::captures(Driver::Stream stream) noexcept { return Driver::captures(stream); }

bool CopyBatch::has_call(Driver::Stream stream) noexcept { return Driver::takes_batches(stream); }

void CopyBatch::make_room() {
  if (m_pieces.capacity() >= m_expected) return;
  std::vector<CopyPiece> larger = std::move(kept_memory);
  larger.assign(m_pieces.begin(), m_pieces.end());
  larger.reserve(m_expected);
  m_pieces = std::move(larger);
}

void CopyBatch::keep_memory(std::vector<CopyPiece>&& pieces) {
  if (pieces.capacity() <= most_kept && pieces.capacity() > kept_memory.capacity())
    kept_memory = std::move(pieces);
}

void CopyBatch::sort() {
  if (m_ascending) return;
  m_merged = false;
  if (std::is_sorted(m_pieces.begin(), m_pieces.end(), by_dst)) return;
  if (m_pieces.size() < many_to_sort)
    std::sort(m_pieces.begin(), m_pieces.end(), by_dst);
  else
    sort_by_digits(m_pieces);
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> CopyBatch::find_conflict() {
  if (m_pieces.empty()) return std::nullopt;
  sort();
  if (!m_ascending)
    for (std::size_t i = 1; i < m_pieces.size(); ++i)
      if (m_pieces[i - 1].dst + m_pieces[i - 1].bytes > m_pieces[i].dst)
        return std::pair(m_pieces[i - 1].pair, m_pieces[i].pair);
  char const* const first_dst = m_pieces.front().dst;
  m_dst_end                   = m_pieces.back().dst + m_pieces.back().bytes;
  m_ascending                 = true;
  if (first_dst >= m_src_end || m_first_src >= m_dst_end) return std::nullopt;
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

bool CopyBatch::all_of_it_is_on(int device) const {
  auto const is_reached = [&](void const* pointer) {
    int const at = Driver::device_of(pointer);
    return at < 0 || at == device;
  };
  return std::all_of(m_pieces.begin(), m_pieces.end(), [&](CopyPiece const& piece) {
    return is_reached(piece.dst) && is_reached(piece.src);
  });
}

bool CopyBatch::can_be_merged(int kernel_device) const {
  return m_merges || is_only_device_in_use() || all_of_it_is_on(kernel_device);
}

BatchPlan CopyBatch::plan(int kernel_device, BatchPlan::Use use) {
  if (can_be_merged(kernel_device))
    return plan_batch(std::move(m_pieces), m_merged, kernel_device >= 0, use);
  BatchPlan plan;
  plan.others = std::move(m_pieces);
  plan.apart  = true;
  return plan;
}

// A call that is refused, as one that spans two allocations, is no good while a graph is made:
// nothing is merged.
CopyBatch::Rest CopyBatch::enqueue_captured(Driver::Stream stream, int kernel_device) {
  Rest rest;
  if (kernel_device >= 0 && can_be_merged(kernel_device))
    rest.for_kernel = take_for_kernel(m_pieces, BatchPlan::Use::once);
  for (CopyPiece const& piece : rest.for_kernel) retain_for_graph(stream, piece.dst, piece.src);
  for (CopyPiece const& piece : m_pieces) {
    retain_for_graph(stream, piece.dst, piece.src);
    Driver::copy(piece.dst, piece.src, piece.bytes, stream);
  }
  return rest;
}

CopyBatch::Rest CopyBatch::enqueue(Driver::Stream stream, int kernel_device) {
  if (!m_merges && Driver::is_capturing(stream)) return enqueue_captured(stream, kernel_device);
  BatchPlan plan     = this->plan(kernel_device);
  bool const refused = !plan.enqueue(stream);
  return {std::move(plan.for_kernel), refused};
}

}  // namespace KokkosHostSpaces::Impl
