// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/ChunkSizing.hpp>

#include "../../../../backend/Error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t alignment = 512;  // of windows, as of what CUDA allocates
constexpr std::size_t endless   = std::numeric_limits<std::size_t>::max();
constexpr int most_halvings     = 3;

// What cannot be counted is more than any memory.
std::size_t product(std::size_t a, std::size_t b) {
  return b > 0 && a > endless / b ? endless : a * b;
}

}  // namespace

ChunkSizing::ChunkSizing(std::string const& label, StreamShape const& shape,
                         PlanOptions const& wishes, StageSkew const& lags)
    : m_label(label), m_shape(shape), m_wishes(wishes), m_lags(lags) {
  m_slots = wishes.slots > 0 ? wishes.slots : 3;
  for (std::size_t b = 0; b < shape.buffers.size(); ++b)
    if (m_lags.kept(int(b)) > 0) m_slots = std::max(m_slots, 2);
}

StreamLayout ChunkSizing::layout(std::int64_t rows) const {
  StreamLayout result;
  for (std::size_t b = 0; b < m_shape.buffers.size(); ++b) {
    StreamBuffer const& buffer = m_shape.buffers[b];
    std::int64_t const kept    = m_lags.kept(int(b));
    StreamWindows windows;
    if (buffer.fixed) {
      result.windows.push_back({0, 0, 1});
      continue;
    }
    std::size_t const bytes =
        product(std::size_t(std::min(rows + kept, buffer.rows)), buffer.row_bytes);
    windows.begin      = result.memory;
    windows.bytes      = product(bytes / alignment + (bytes % alignment > 0), alignment);
    bool const crosses = buffer.loaded || buffer.stored;
    windows.slots      = crosses ? m_slots
                         : kept == 0 || rows >> halvings(rows) >= m_lags.rows_to_move(int(b)) ? 1
                                                                                              : 2;
    result.memory += std::min(product(windows.bytes, at(windows.slots)), endless - result.memory);
    result.windows.push_back(windows);
  }
  return result;
}

// Smaller chunks at both ends, where nothing overlaps with the first copies in and the last ones
// out: as small as is worth its while, and as what is kept can be moved within a window.
int ChunkSizing::halvings(std::int64_t rows) const {
  if (m_wishes.chunk_rows > 0) return 0;
  std::size_t row       = 1;
  std::int64_t smallest = 1;
  for (std::size_t b = 0; b < m_shape.buffers.size(); ++b) {
    if (m_shape.buffers[b].fixed) continue;
    row      = std::max(row, m_shape.buffers[b].row_bytes);
    smallest = std::max(smallest, m_lags.rows_to_move(int(b)));
  }
  int result = 0;
  while (result < most_halvings && rows >> (result + 1) >= smallest &&
         std::size_t(rows >> (result + 1)) * row >= m_wishes.smallest_chunk)
    ++result;
  return result;
}

std::int64_t ChunkSizing::page_rows() const {
  constexpr std::size_t page = 4096;
  std::size_t rows           = 1;
  for (StreamBuffer const& buffer : m_shape.buffers)
    if (!buffer.fixed) rows = std::max(rows, page / std::gcd(page, buffer.row_bytes));
  return std::int64_t(rows);
}

bool ChunkSizing::fits(std::int64_t rows) const { return layout(rows).memory <= m_wishes.memory; }

std::int64_t ChunkSizing::wanted_rows() const {
  std::int64_t const way = m_lags.way();  // the range may be a part of the arrays
  std::size_t row = 1, all = 1, loads = 0, stores = 0, keeps = 0;
  for (std::size_t b = 0; b < m_shape.buffers.size(); ++b) {
    StreamBuffer const& buffer = m_shape.buffers[b];
    if (buffer.fixed) continue;
    loads += buffer.loaded;
    stores += buffer.stored;
    keeps += m_lags.kept(int(b)) > 0;
    row = std::max(row, buffer.row_bytes);
    all = std::max(all, product(buffer.row_bytes, std::size_t(std::min(buffer.rows, way))));
  }
  // A longer pipeline takes longer to fill, more chunks take longer to begin: the best grows as
  // the root, and a pipeline that empties as well takes twice as long for it. More than 32 MiB of
  // 8 GiB gained nothing on an H200.
  std::size_t const stages = std::max<std::size_t>(m_shape.stages.size(), 1);
  double const begins      = double(loads > 0 && stores > 0 ? 1 << 18 : 1 << 19);
  double const root        = std::min(std::sqrt(double(all) * begins), double(1 << 25));
  std::size_t const best   = std::size_t(root * std::sqrt(double(stages)));
  // So few that CUDA's queues, of 1024 each, hold about all operations, if memory allows. A chunk
  // has copies, a wait and an event in those of the copies in and out; two waits, what is kept and
  // an event, and launches and an event in that of the kernels.
  std::size_t const operations =
      std::max({loads + 2, stores + 2, 3 + keeps + (keeps > 0) + stages});
  std::size_t const fewest = product(all / 1024, operations);
  std::size_t const chunk  = std::clamp(std::max(best, fewest), m_wishes.smallest_chunk,
                                        std::max(m_wishes.largest_chunk, m_wishes.smallest_chunk));
  std::int64_t rows        = std::int64_t((chunk + row - 1) / row);
  std::int64_t const pages = page_rows() << most_halvings;  // when they are halved, too
  if (rows >= 4 * pages) rows = (rows + pages / 2) / pages * pages;
  return std::clamp<std::int64_t>(rows, 1, way);
}

std::int64_t ChunkSizing::choose_rows() const {
  std::int64_t const way = m_lags.way();
  if (way == 0) return 0;
  if (m_wishes.chunk_rows > 0) {
    std::int64_t const rows = std::min(m_wishes.chunk_rows, way);
    refuse_if(m_wishes.most_rows > 0 && rows > m_wishes.most_rows,
              "has more elements than one launch can count", rows);
    refuse_if(!fits(rows), "is too large", rows);
    return rows;
  }
  std::int64_t const limit = m_wishes.most_rows > 0 ? std::min(way, m_wishes.most_rows) : way;
  std::int64_t const most  = std::min(wanted_rows(), limit);
  std::int64_t const rows  = fits(most) ? most : rows_that_fit(most, limit);
  // Of whole pages, when they are halved, too, if these are many.
  std::int64_t const page  = page_rows();
  std::int64_t const unit  = rows >= 4 * (page << most_halvings) ? page << most_halvings : page;
  std::int64_t const whole = rows / unit * unit;
  return page > 1 && rows < way && rows >= 8 * page && fits(whole) ? whole : rows;
}

// The most rows that fit; if none of those that are wanted do, the fewest of more. Where one window
// is enough for what is kept, a larger chunk may take less memory; else it takes more.
std::int64_t ChunkSizing::rows_that_fit(std::int64_t most, std::int64_t limit) const {
  std::vector<std::int64_t> turns{1};
  for (std::size_t b = 0; b < m_shape.buffers.size(); ++b)
    turns.push_back(std::clamp<std::int64_t>(m_lags.rows_to_move(int(b)), 1, limit));
  std::sort(turns.begin(), turns.end());
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
    if (*turn > most || !fits(*turn)) continue;
    std::int64_t fewest = *turn, too_many = most;
    while (too_many - fewest > 1) {
      std::int64_t const middle          = fewest + (too_many - fewest) / 2;
      (fits(middle) ? fewest : too_many) = middle;
    }
    return fewest;
  }
  for (std::int64_t const turn : turns)
    if (turn > most && fits(turn)) return turn;
  refuse_if(true, "is too large", 1);
  return 0;
}

void ChunkSizing::refuse_if(bool bad, char const* why, std::int64_t rows) const {
  if (!bad) return;
  std::string arrays;
  for (StreamBuffer const& buffer : m_shape.buffers)
    arrays += (arrays.empty() ? "\"" : ", \"") + buffer.name +
              "\": " + std::to_string(buffer.row_bytes) + " bytes a row";
  throw Error(m_label + ": a chunk of " + std::to_string(rows) + " rows " + why + " (it takes " +
              std::to_string(layout(rows).memory) + " bytes of device memory in " +
              std::to_string(m_slots) + " slots, and may take " + std::to_string(m_wishes.memory) +
              "; " + arrays + "): take fewer chunk_rows or slots, or allow more device_memory");
}

}  // namespace KokkosHostSpaces::Impl
