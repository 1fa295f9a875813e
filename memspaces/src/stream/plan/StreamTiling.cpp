// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamTiling.hpp>

#include "../../../../backend/Error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace KokkosHostSpaces::Impl {

// --- which rows: StageSkew ---

namespace {

bool is_empty(StreamStage const& stage) { return stage.begin >= stage.end; }

}  // namespace

StageSkew::StageSkew(std::string const& label, StreamShape const& shape)
    : m_shape(shape), m_buffers(shape.buffers.size()), m_lags(shape.stages.size(), 0) {
  find_users();
  check_reads(label);
  find_lags();
  find_kept_rows();
}

void StageSkew::find_users() {
  for (std::size_t s = 0; s < m_shape.stages.size(); ++s) {
    StreamStage const& stage = m_shape.stages[s];
    if (is_empty(stage)) continue;
    for (StreamAccess const& access : stage.accesses) {
      if (m_shape.buffers[at(access.buffer)].fixed) continue;
      Buffer& buffer = m_buffers[at(access.buffer)];
      if (access.writes) buffer.writer = int(s);
      bool const first        = buffer.users.empty();
      std::int64_t const from = std::max<std::int64_t>(stage.begin - access.halo, 0);
      std::int64_t const to =
          std::min(stage.end + access.halo, m_shape.buffers[at(access.buffer)].rows);
      buffer.load.begin = first ? from : std::min(buffer.load.begin, from);
      buffer.load.end   = first ? to : std::max(buffer.load.end, to);
      buffer.users.push_back({int(s), access.halo});
    }
  }
}

void StageSkew::check_reads(std::string const& label) const {
  for (std::size_t b = 0; b < m_buffers.size(); ++b) {
    Buffer const& buffer = m_buffers[b];
    if (m_shape.buffers[b].loaded || buffer.users.empty()) continue;
    StreamStage const nothing{};
    StreamStage const& written = buffer.writer >= 0 ? m_shape.stages[at(buffer.writer)] : nothing;
    if (buffer.load.begin < written.begin || buffer.load.end > written.end)
      throw Error(label + ": rows " + std::to_string(buffer.load.begin) + " to " +
                  std::to_string(buffer.load.end) + " of \"" + m_shape.buffers[b].name +
                  "\" are read (its stage writes rows " + std::to_string(written.begin) + " to " +
                  std::to_string(written.end) +
                  "): give that stage a larger range, or the one that reads a smaller one");
  }
}

void StageSkew::find_lags() {
  std::int64_t first_row = 0, least_lag = 0;
  bool first = true;
  for (std::size_t s = 0; s < m_shape.stages.size(); ++s) {
    StreamStage const& stage = m_shape.stages[s];
    if (is_empty(stage)) continue;
    for (StreamAccess const& access : stage.accesses) {
      int const writer     = m_buffers[at(access.buffer)].writer;
      bool const of_before = writer >= 0 && writer < int(s);
      m_lags[s] = std::max(m_lags[s], (of_before ? m_lags[at(writer)] : 0) + access.halo);
    }
    first_row = first ? stage.begin : std::min(first_row, stage.begin);
    least_lag = first ? m_lags[s] : std::min(least_lag, m_lags[s]);
    first     = false;
  }
  m_begin = first_row + least_lag;
}

void StageSkew::find_kept_rows() {
  for (std::size_t b = 0; b < m_buffers.size(); ++b) {
    Buffer& buffer         = m_buffers[b];
    bool const is_made     = !m_shape.buffers[b].loaded && buffer.writer >= 0;
    std::int64_t const lag = is_made ? m_lags[at(buffer.writer)] : 0;
    for (User const& user : buffer.users)
      buffer.kept = std::max(buffer.kept, m_lags[at(user.stage)] + user.halo - lag);
  }
}

std::int64_t StageSkew::front_length() const {
  std::int64_t result = 0;
  for (std::size_t s = 0; s < m_shape.stages.size(); ++s)
    if (!is_empty(m_shape.stages[s]))
      result = std::max(result, m_shape.stages[s].end + m_lags[s] - m_begin);
  return result;
}

// The first chunks grow from the fewest rows by a factor of two, and the last ones have half of what
// is left: nothing overlaps with the first copy in and the last copy out. A chunk that would leave
// less than half of the fewest rows takes these, too.
void StageSkew::cut(ChunkRows const& rows) {
  m_fronts.clear();
  std::int64_t front = m_begin, most = rows.fewest;
  for (std::int64_t const end = m_begin + front_length(); front < end;) {
    std::int64_t const left  = end - front;
    std::int64_t const part  = left < rows.fewest * 3 / 2 ? left : left / 2;
    std::int64_t const next  = front + std::clamp(part, rows.fewest, most);
    std::int64_t const pages = (next + rows.in_pages - 1) / rows.in_pages * rows.in_pages;
    front                    = pages - front <= rows.most ? pages : next;
    most                     = std::min(2 * most, rows.most);
    m_fronts.push_back(front);
  }
}

std::int64_t StageSkew::done(int stage, std::int64_t chunk) const {
  StreamStage const& rows = m_shape.stages[at(stage)];
  if (chunk < 0 || is_empty(rows)) return rows.begin;
  return std::clamp(m_fronts[std::size_t(chunk)] - m_lags[at(stage)], rows.begin, rows.end);
}

std::int64_t StageSkew::loaded(int buffer, std::int64_t chunk) const {
  StreamRows const& rows = m_buffers[at(buffer)].load;
  if (chunk < 0) return rows.begin;
  return std::clamp(m_fronts[std::size_t(chunk)], rows.begin, rows.end);
}

// Rows are loaded before a stage may write them.
std::int64_t StageSkew::present(int buffer, std::int64_t chunk) const {
  if (m_shape.buffers[at(buffer)].loaded) return loaded(buffer, chunk);
  int const by = writer(buffer);
  return by < 0 ? std::numeric_limits<std::int64_t>::min() : done(by, chunk);
}

StreamRows StageSkew::window(int buffer, std::int64_t chunk) const {
  if (m_buffers[at(buffer)].users.empty()) return {};
  std::int64_t const end = present(buffer, chunk);
  std::int64_t begin     = end;
  if (m_shape.buffers[at(buffer)].loaded) begin = loaded(buffer, chunk - 1);
  for (User const& user : m_buffers[at(buffer)].users) {
    std::int64_t const before = done(user.stage, chunk - 1);
    if (before >= m_shape.stages[at(user.stage)].end) continue;
    begin = std::min(begin, std::max<std::int64_t>(before - user.halo, 0));
  }
  return {begin, end};
}

// --- how many rows, and where: StreamTiling ---

namespace {

constexpr std::size_t alignment = 512;  // of windows, that of device memory
constexpr std::size_t page      = 4096;
constexpr std::size_t endless   = std::numeric_limits<std::size_t>::max();
constexpr int most_halvings     = 3;

// Saturates: such a size fits no memory.
std::size_t product(std::size_t a, std::size_t b) {
  return b > 0 && a > endless / b ? endless : a * b;
}

class Tiler {
 public:
  Tiler(std::string const& label, StreamShape const& shape, PlanOptions const& options,
        StageSkew const& skew)
      : m_label(label),
        m_shape(shape),
        m_options(options),
        m_skew(skew),
        m_length(skew.front_length()) {
    m_slots = options.slots > 0 ? options.slots : 3;
    for (std::size_t b = 0; b < shape.buffers.size(); ++b) {
      StreamBuffer const& buffer = shape.buffers[b];
      if (skew.kept(int(b)) > 0) m_slots = std::max(m_slots, 2);
      if (buffer.fixed) continue;
      m_row_bytes = std::max(m_row_bytes, buffer.row_bytes);
      m_in_pages  = std::max(m_in_pages, std::int64_t(page / std::gcd(page, buffer.row_bytes)));
    }
  }

  StreamTiling make() const {
    std::int64_t const rows = m_options.chunk_rows > 0 ? asked_rows() : chosen_rows();
    StreamTiling result     = layout(rows);
    result.rows             = {rows, fewest_rows(rows), m_in_pages};
    return result;
  }

 private:
  // Slots of a buffer that crosses the link are filled while others are in use. One that stays on the
  // device has one, in which its window slides: when it reaches the end, the kept rows move to the
  // begin, and must not overlap with themselves.
  StreamTiling layout(std::int64_t rows) const {
    StreamTiling result;
    result.slots = m_slots;
    for (std::size_t b = 0; b < m_shape.buffers.size(); ++b) {
      StreamBuffer const& buffer = m_shape.buffers[b];
      if (buffer.fixed) {
        result.windows.push_back({0, 0, 1});
        continue;
      }
      std::int64_t const kept = m_skew.kept(int(b));
      bool const crosses      = buffer.loaded || buffer.stored;
      std::int64_t const held = std::min(rows + (crosses ? kept : 2 * kept), buffer.rows);
      std::size_t const bytes = product(std::size_t(held), buffer.row_bytes);
      StreamWindows windows;
      windows.begin = result.memory;
      windows.bytes = product(bytes / alignment + (bytes % alignment > 0), alignment);
      windows.slots = crosses ? m_slots : 1;
      result.memory += std::min(product(windows.bytes, at(windows.slots)), endless - result.memory);
      result.windows.push_back(windows);
    }
    return result;
  }

  bool fits(std::int64_t rows) const { return layout(rows).memory <= m_options.memory; }

  std::int64_t asked_rows() const {
    std::int64_t const rows = std::min(m_options.chunk_rows, m_length);
    if (m_options.most_rows > 0 && rows > m_options.most_rows)
      refuse("has more elements than one launch can count", rows);
    if (!fits(rows)) refuse("is too large", rows);
    return rows;
  }

  // Copies of both directions at once are slower if chunks do not begin at pages of 4 KiB of the host
  // (H200: a triad of 1 GiB takes 50.5 ms instead of 48.5).
  std::int64_t chosen_rows() const {
    if (m_length == 0) return 0;
    std::int64_t const limit =
        m_options.most_rows > 0 ? std::min(m_length, m_options.most_rows) : m_length;
    std::int64_t const rows = most_rows_that_fit(std::min(wanted_rows(), limit));
    if (rows == m_length || rows < 8 * m_in_pages) return rows;
    std::int64_t const when_halved = m_in_pages << most_halvings;
    std::int64_t const unit        = rows >= 4 * when_halved ? when_halved : m_in_pages;
    return rows / unit * unit;
  }

  // A longer pipeline takes longer to fill, and more chunks take longer to begin: the best size grows
  // with the root of all bytes. A pipeline that also drains takes twice as long for that. On an H200
  // chunks of more than 32 MiB gained nothing for 8 GiB.
  std::int64_t wanted_rows() const {
    std::size_t all = 1, loads = 0, stores = 0, keeps = 0;
    for (std::size_t b = 0; b < m_shape.buffers.size(); ++b) {
      StreamBuffer const& buffer = m_shape.buffers[b];
      if (buffer.fixed) continue;
      loads += buffer.loaded;
      stores += buffer.stored;
      keeps += m_skew.kept(int(b)) > 0;
      all = std::max(all, product(buffer.row_bytes, std::size_t(std::min(buffer.rows, m_length))));
    }
    std::size_t const stages = std::max<std::size_t>(m_shape.stages.size(), 1);
    double const begins      = double(loads > 0 && stores > 0 ? 1 << 18 : 1 << 19);
    double const root        = std::min(std::sqrt(double(all) * begins), double(1 << 25));
    std::size_t const best   = std::size_t(root * std::sqrt(double(stages)));
    // CUDA's queues, of 1024 entries each, hold about all operations of a loop: those of copies have
    // the copies, a wait and an event a chunk; that of kernels two waits, the moves of kept rows and
    // their event, the launches and an event.
    std::size_t const operations =
        std::max({loads + 2, stores + 2, 3 + keeps + (keeps > 0) + stages});
    std::size_t const fewest = product(all / 1024, operations);
    std::size_t const chunk =
        std::clamp(std::max(best, fewest), m_options.smallest_chunk,
                   std::max(m_options.largest_chunk, m_options.smallest_chunk));
    return std::clamp<std::int64_t>(std::int64_t((chunk + m_row_bytes - 1) / m_row_bytes), 1,
                                    m_length);
  }

  std::int64_t most_rows_that_fit(std::int64_t most) const {
    if (fits(most)) return most;
    if (!fits(1)) refuse("is too large", 1);
    std::int64_t fitting = 1, too_many = most;
    while (too_many - fitting > 1) {
      std::int64_t const middle           = fitting + (too_many - fitting) / 2;
      (fits(middle) ? fitting : too_many) = middle;
    }
    return fitting;
  }

  // The rows of the first and the last chunks: each of these chunks launches all stages once more. If
  // the rows were asked for, all chunks have them.
  std::int64_t fewest_rows(std::int64_t rows) const {
    for (int n = 0;
         n < most_halvings && m_options.chunk_rows == 0 && rows / 2 > 0 &&
         std::size_t(rows / 2) * m_row_bytes >= m_options.smallest_chunk * m_shape.stages.size();
         ++n)
      rows /= 2;
    return rows;
  }

  [[noreturn]] void refuse(char const* why, std::int64_t rows) const {
    std::string arrays;
    for (StreamBuffer const& buffer : m_shape.buffers)
      arrays += (arrays.empty() ? "\"" : ", \"") + buffer.name +
                "\": " + std::to_string(buffer.row_bytes) + " bytes a row";
    throw Error(m_label + ": a chunk of " + std::to_string(rows) + " rows " + why + " (it takes " +
                std::to_string(layout(rows).memory) + " bytes of device memory in " +
                std::to_string(m_slots) + " slots, and may take " +
                std::to_string(m_options.memory) + "; " + arrays +
                "): take fewer chunk_rows or slots, or allow more device_memory");
  }

  std::string const& m_label;
  StreamShape const& m_shape;
  PlanOptions const& m_options;
  StageSkew const& m_skew;
  std::int64_t m_length;
  int m_slots;
  std::size_t m_row_bytes = 1;  // of the longest row
  std::int64_t m_in_pages =
      1;  // a number of rows that is whole pages of each array; a power of two
};

}  // namespace

StreamTiling tile_stream(std::string const& label, StreamShape const& shape,
                         PlanOptions const& options, StageSkew const& skew) {
  return Tiler(label, shape, options, skew).make();
}

}  // namespace KokkosHostSpaces::Impl
