// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/StreamSizes.hpp>

#include "../../backend/Error.hpp"

#include <algorithm>
#include <cmath>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t alignment = 512;  // of windows, as of what CUDA allocates

}  // namespace

StreamSizes::StreamSizes(std::string const& label, StreamShape const& shape,
                         StreamWishes const& wishes, StreamLags const& lags)
    : m_label(label), m_shape(shape), m_wishes(wishes), m_lags(lags) {
  m_slots = wishes.slots > 0 ? wishes.slots : 3;
  for (std::size_t b = 0; b < shape.buffers.size(); ++b)
    if (m_lags.kept(int(b)) > 0) m_slots = std::max(m_slots, 2);
}

StreamLayout StreamSizes::layout(std::int64_t rows) const {
  StreamLayout result;
  for (std::size_t b = 0; b < m_shape.buffers.size(); ++b) {
    StreamBuffer const& buffer = m_shape.buffers[b];
    std::int64_t const kept    = m_lags.kept(int(b));
    StreamWindows windows;
    if (buffer.fixed) {
      result.windows.push_back({0, 0, 1});
      continue;
    }
    windows.begin = result.memory;
    windows.bytes =
        (std::size_t(std::min(rows + kept, buffer.rows)) * buffer.row_bytes + alignment - 1) /
        alignment * alignment;
    bool const crosses = buffer.loaded || buffer.stored;
    windows.slots      = crosses ? m_slots
                         : kept == 0 || rows >> halvings(rows) >= m_lags.rows_to_move(int(b)) ? 1
                                                                                              : 2;
    result.memory += windows.bytes * at(windows.slots);
    result.windows.push_back(windows);
  }
  return result;
}

// Smaller chunks at both ends, where nothing overlaps with the first copies in and the last ones
// out: as small as is worth its while, and as what is kept can be moved within a window.
int StreamSizes::halvings(std::int64_t rows) const {
  if (m_wishes.chunk_rows > 0) return 0;
  std::size_t row       = 1;
  std::int64_t smallest = 1;
  for (std::size_t b = 0; b < m_shape.buffers.size(); ++b) {
    if (m_shape.buffers[b].fixed) continue;
    row      = std::max(row, m_shape.buffers[b].row_bytes);
    smallest = std::max(smallest, m_lags.rows_to_move(int(b)));
  }
  int result = 0;
  while (result < 3 && rows >> (result + 1) >= smallest &&
         std::size_t(rows >> (result + 1)) * row >= m_wishes.smallest_chunk)
    ++result;
  return result;
}

bool StreamSizes::fits(std::int64_t rows) const { return layout(rows).memory <= m_wishes.memory; }

std::int64_t StreamSizes::wanted_rows() const {
  std::size_t row = 1, all = 1;
  bool loads = false, stores = false;
  for (StreamBuffer const& buffer : m_shape.buffers) {
    if (buffer.fixed) continue;
    loads  = loads || buffer.loaded;
    stores = stores || buffer.stored;
    row    = std::max(row, buffer.row_bytes);
    all    = std::max(all, buffer.row_bytes * std::size_t(buffer.rows));
  }
  // A longer pipeline takes longer to fill, more chunks take longer to begin: the best grows as
  // the root, and a pipeline that empties as well takes twice as long for it. Few enough that CUDA's
  // queues hold the operations of all, if memory allows.
  double const begins = double(loads && stores ? 1 << 18 : 1 << 19) *
                        double(std::max<std::size_t>(m_shape.stages.size(), 1));
  std::size_t const best  = std::size_t(std::sqrt(double(all) * begins));
  std::size_t const chunk = std::clamp(std::max(best, all / 128), m_wishes.smallest_chunk,
                                       std::max(m_wishes.largest_chunk, m_wishes.smallest_chunk));
  return std::clamp<std::int64_t>(std::int64_t((chunk + row - 1) / row), 1,
                                  std::max<std::int64_t>(m_lags.way(), 1));
}

std::int64_t StreamSizes::choose_rows() const {
  if (m_wishes.chunk_rows > 0) {
    std::int64_t const all  = std::max<std::int64_t>(m_lags.way(), 1);
    std::int64_t const rows = std::min(m_wishes.chunk_rows, all);
    refuse_if(m_wishes.most_rows > 0 && rows > m_wishes.most_rows,
              "has more elements than one launch can count", rows);
    refuse_if(!fits(rows), "is too large", rows);
    return rows;
  }
  std::int64_t most = wanted_rows(), fewest = 1;
  if (m_wishes.most_rows > 0) most = std::min(most, m_wishes.most_rows);
  if (fits(most)) return most;
  refuse_if(!fits(fewest), "is too large", fewest);
  while (most - fewest > 1) {
    std::int64_t const middle      = fewest + (most - fewest) / 2;
    (fits(middle) ? fewest : most) = middle;
  }
  return fewest;
}

void StreamSizes::refuse_if(bool bad, char const* why, std::int64_t rows) const {
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
