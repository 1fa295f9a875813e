// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/StreamLags.hpp>
#include <KokkosHostSpaces/impl/StreamPlan.hpp>

#include "../../backend/Error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t alignment = 512;  // of windows, as of what CUDA allocates

std::size_t at(int number) { return static_cast<std::size_t>(number); }

// The windows of one buffer.
struct Windows {
  std::size_t begin = 0;  // in device memory
  std::size_t bytes = 0;  // of one window
  int slots         = 0;
};

// Where all windows lie, for some number of rows.
struct Layout {
  std::vector<Windows> windows;
  std::size_t memory = 0;
};

class Planner {
 public:
  Planner(std::string const& label, StreamShape const& shape, StreamWishes const& wishes)
      : m_label(label), m_shape(shape), m_wishes(wishes), m_lags(label, shape) {
    m_plan.slots = wishes.slots > 0 ? wishes.slots : 3;
    for (std::size_t b = 0; b < shape.buffers.size(); ++b)
      if (m_lags.kept(int(b)) > 0) m_plan.slots = std::max(m_plan.slots, 2);
  }

  StreamPlan make() {
    std::int64_t const rows = choose_rows();
    m_layout                = layout(rows);
    m_plan.memory           = m_layout.memory;
    m_plan.chunk_rows       = rows;
    m_lags.set_pace(rows, halvings(rows));
    m_plan.chunks = m_lags.chunks();
    m_first_work.reserve(std::size_t(m_plan.chunks));
    for (m_chunk = 0; m_chunk < m_plan.chunks; ++m_chunk) add_chunk();
    number_events();
    return std::move(m_plan);
  }

 private:
  // --- sizes ---
  Layout layout(std::int64_t rows) const {
    Layout result;
    for (std::size_t b = 0; b < m_shape.buffers.size(); ++b) {
      StreamBuffer const& buffer = m_shape.buffers[b];
      std::int64_t const kept    = m_lags.kept(int(b));
      Windows windows;
      if (buffer.fixed) {
        result.windows.push_back({0, 0, 1});
        continue;
      }
      windows.begin = result.memory;
      windows.bytes =
          (std::size_t(std::min(rows + kept, buffer.rows)) * buffer.row_bytes + alignment - 1) /
          alignment * alignment;
      bool const crosses = buffer.loaded || buffer.stored;
      windows.slots      = crosses ? m_plan.slots
                           : kept == 0 || rows >> halvings(rows) >= m_lags.rows_to_move(int(b)) ? 1
                                                                                                : 2;
      result.memory += windows.bytes * at(windows.slots);
      result.windows.push_back(windows);
    }
    return result;
  }

  // Smaller chunks at both ends, where nothing overlaps with the first copies in and the last ones
  // out: as small as is worth its while, and as what is kept can be moved within a window.
  int halvings(std::int64_t rows) const {
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

  bool fits(std::int64_t rows) const { return layout(rows).memory <= m_wishes.memory; }

  std::int64_t wanted_rows() const {
    std::size_t row = 1, all = 1;
    for (StreamBuffer const& buffer : m_shape.buffers) {
      if (buffer.fixed) continue;
      row = std::max(row, buffer.row_bytes);
      all = std::max(all, buffer.row_bytes * std::size_t(buffer.rows));
    }
    // A longer pipeline takes longer to fill, more chunks take longer to begin: the best grows as
    // the root. Few enough that CUDA's queues hold the operations of all, if memory allows.
    double const begins = double(1 << 19) * double(std::max<std::size_t>(m_shape.stages.size(), 1));
    std::size_t const best  = std::size_t(std::sqrt(double(all) * begins));
    std::size_t const chunk = std::clamp(std::max(best, all / 128), m_wishes.smallest_chunk,
                                         std::max(m_wishes.largest_chunk, m_wishes.smallest_chunk));
    return std::clamp<std::int64_t>(std::int64_t((chunk + row - 1) / row), 1,
                                    std::max<std::int64_t>(m_lags.way(), 1));
  }

  std::int64_t choose_rows() const {
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

  void refuse_if(bool bad, char const* why, std::int64_t rows) const {
    if (!bad) return;
    std::string arrays;
    for (StreamBuffer const& buffer : m_shape.buffers)
      arrays += (arrays.empty() ? "\"" : ", \"") + buffer.name +
                "\": " + std::to_string(buffer.row_bytes) + " bytes a row";
    throw Error(m_label + ": a chunk of " + std::to_string(rows) + " rows " + why + " (it takes " +
                std::to_string(layout(rows).memory) + " bytes of device memory in " +
                std::to_string(m_plan.slots) + " slots, and may take " +
                std::to_string(m_wishes.memory) + "; " + arrays +
                "): take fewer chunk_rows or slots, or allow more device_memory");
  }

  // --- operations ---
  std::size_t slot(int buffer, std::int64_t chunk) const {
    Windows const& windows = m_layout.windows[at(buffer)];
    return windows.begin + std::size_t(chunk % windows.slots) * windows.bytes;
  }

  // Where row 0 of a buffer would be.
  std::ptrdiff_t origin(int buffer, std::int64_t chunk) const {
    std::int64_t const first = m_lags.window(buffer, chunk).begin;
    return std::ptrdiff_t(slot(buffer, chunk)) -
           std::ptrdiff_t(first) * std::ptrdiff_t(m_shape.buffers[at(buffer)].row_bytes);
  }

  std::size_t on_device(int buffer, std::int64_t chunk, std::int64_t row) const {
    return std::size_t(origin(buffer, chunk) +
                       std::ptrdiff_t(row) * std::ptrdiff_t(m_shape.buffers[at(buffer)].row_bytes));
  }

  std::size_t on_host(int buffer, std::int64_t row) const {
    return std::size_t(row) * m_shape.buffers[at(buffer)].row_bytes;
  }

  std::size_t bytes_of(int buffer, StreamRows const& rows) const {
    return std::size_t(rows.count()) * m_shape.buffers[at(buffer)].row_bytes;
  }

  // The operation, unless it is empty.
  void add(StreamOperation operation) {
    operation.last_piece = m_plan.pieces.size();
    bool const copies    = operation.action != StreamAction::launch;
    if (copies && operation.first_piece == operation.last_piece) return;
    int const number = int(m_plan.operations.size());
    if (operation.queue() == StreamQueue::in) m_load = number;
    if (operation.queue() == StreamQueue::out) m_store = number;
    if (operation.queue() == StreamQueue::work) {
      if (m_work_of_chunk < 0) wait_for_data(operation);
      m_work = m_work_of_chunk = number;
    }
    m_plan.operations.push_back(operation);
  }

  StreamOperation start(StreamAction action) const {
    StreamOperation operation{.action = action, .chunk = m_chunk};
    operation.first_piece = m_plan.pieces.size();
    return operation;
  }

  // The first work on a chunk waits for its data, and for what lay in its windows before.
  void wait_for_data(StreamOperation& operation) const {
    operation.after[0] = m_load;
    operation.after[1] = history(m_last_store);
  }

  // What was the last operation of a kind when the windows were used before.
  int history(std::vector<int> const& last) const {
    std::int64_t const before = m_chunk - m_plan.slots;
    return before < 0 ? -1 : last[std::size_t(before)];
  }

  void add_chunk() {
    m_work_of_chunk = -1;
    add_loads();
    add_keeps();
    m_first_work.push_back(m_keep);
    for (std::size_t s = 0; s < m_shape.stages.size(); ++s) add_launch(int(s));
    add_stores();
    m_last_work.push_back(m_work);
    m_last_store.push_back(m_store);
  }

  void add_loads() {
    StreamOperation operation = start(StreamAction::load);
    bool kept = false, stored = false;
    for (int b = 0; b < int(m_shape.buffers.size()); ++b) {
      StreamBuffer const& buffer = m_shape.buffers[at(b)];
      if (!buffer.loaded) continue;
      kept |= m_lags.kept(b) > 0;
      stored |= buffer.stored;
      StreamRows const rows{m_lags.loaded(b, m_chunk - 1), m_lags.loaded(b, m_chunk)};
      if (rows.count() == 0) continue;
      std::int64_t const below = m_shape.own.begin, above = m_shape.own.end;
      bool const saved = !m_shape.saved.empty() && m_shape.saved[at(b)].needed;
      if (!saved) {
        add_load(b, rows, StreamSource::array);
        continue;
      }
      add_load(b, {rows.begin, std::min(rows.end, below)}, StreamSource::saved_below);
      add_load(b, {std::max(rows.begin, below), std::min(rows.end, above)}, StreamSource::array);
      add_load(b, {std::max(rows.begin, above), rows.end}, StreamSource::saved_above);
    }
    // Rows that are kept were read from the old window when the chunk after it began.
    operation.after[0] = history(m_last_work);
    if (kept && m_chunk >= m_plan.slots)
      operation.after[0] =
          std::max(operation.after[0], m_first_work[std::size_t(m_chunk - m_plan.slots + 1)]);
    operation.after[1] = stored ? history(m_last_store) : -1;
    add(operation);
  }

  void add_load(int buffer, StreamRows const& rows, StreamSource source) {
    if (rows.count() == 0) return;
    m_plan.pieces.push_back({buffer, source, on_host(buffer, rows.begin),
                             on_device(buffer, m_chunk, rows.begin), bytes_of(buffer, rows)});
    m_plan.bytes_to_device += bytes_of(buffer, rows);
  }

  void add_keeps() {
    StreamOperation operation = start(StreamAction::keep);
    for (int b = 0; b < int(m_shape.buffers.size()) && m_chunk > 0; ++b) {
      StreamRows const rows{m_lags.window(b, m_chunk).begin, m_lags.present(b, m_chunk - 1)};
      if (rows.count() == 0) continue;
      std::size_t const from  = on_device(b, m_chunk - 1, rows.begin);
      std::size_t const to    = on_device(b, m_chunk, rows.begin);
      std::size_t const bytes = bytes_of(b, rows);
      if (from == to) continue;
      if (from < to ? from + bytes > to : to + bytes > from)
        throw Error(m_label + ": rows to keep overlap (a mistake of the library): report it");
      m_plan.pieces.push_back({b, StreamSource::array, from, to, bytes});
    }
    add(operation);
    if (operation.first_piece != m_plan.pieces.size()) m_keep = m_work;
  }

  void add_launch(int stage) {
    StreamOperation operation = start(StreamAction::launch);
    operation.stage           = stage;
    operation.begin           = m_lags.done(stage, m_chunk - 1);
    operation.end             = m_lags.done(stage, m_chunk);
    if (operation.begin >= operation.end) return;
    add_seeds(stage, {operation.begin, operation.end});
    operation.first_piece  = m_plan.pieces.size();
    operation.first_origin = m_plan.origins.size();
    for (StreamAccess const& access : m_shape.stages[at(stage)].accesses)
      m_plan.origins.push_back(origin(access.buffer, m_chunk));
    add(operation);
  }

  void add_seeds(int stage, StreamRows const& rows) {
    StreamOperation operation = start(StreamAction::seed);
    for (StreamAccess const& access : m_shape.stages[at(stage)].accesses) {
      int const from = m_shape.buffers[at(access.buffer)].seed;
      if (!access.writes || from < 0) continue;
      m_plan.pieces.push_back(
          {access.buffer, StreamSource::array, on_device(from, m_chunk, rows.begin),
           on_device(access.buffer, m_chunk, rows.begin), bytes_of(from, rows)});
    }
    add(operation);
  }

  void add_stores() {
    StreamOperation operation = start(StreamAction::store);
    for (int b = 0; b < int(m_shape.buffers.size()); ++b) {
      int const writer = m_lags.writer(b);
      if (!m_shape.buffers[at(b)].stored || writer < 0) continue;
      StreamRows const rows{std::max(m_lags.done(writer, m_chunk - 1), m_shape.own.begin),
                            std::min(m_lags.done(writer, m_chunk), m_shape.own.end)};
      if (rows.count() == 0) continue;
      m_plan.pieces.push_back({b, StreamSource::array, on_device(b, m_chunk, rows.begin),
                               on_host(b, rows.begin), bytes_of(b, rows)});
      m_plan.bytes_to_host += bytes_of(b, rows);
    }
    operation.after[0] = m_work;
    add(operation);
  }

  // As few events as are waited for at the same time.
  void number_events() {
    std::vector<int> last_waiter(m_plan.operations.size(), -1);
    for (std::size_t o = 0; o < m_plan.operations.size(); ++o)
      for (int const before : m_plan.operations[o].after)
        if (before >= 0) last_waiter[at(before)] = int(o);
    std::vector<int> unused;
    for (std::size_t o = 0; o < m_plan.operations.size(); ++o) {
      for (int const before : m_plan.operations[o].after) {
        if (before < 0 || last_waiter[at(before)] != int(o)) continue;
        unused.push_back(m_plan.operations[at(before)].event);
        last_waiter[at(before)] = -1;
      }
      if (last_waiter[o] < 0) continue;
      if (unused.empty()) unused.push_back(m_plan.events++);
      m_plan.operations[o].event = unused.back();
      unused.pop_back();
    }
  }

  std::string const& m_label;
  StreamShape const& m_shape;
  StreamWishes const& m_wishes;
  StreamLags m_lags;
  Layout m_layout;
  StreamPlan m_plan;

  std::int64_t m_chunk = 0;
  int m_load = -1, m_work = -1, m_store = -1, m_keep = -1;  // the last ones so far
  int m_work_of_chunk = -1;
  std::vector<int> m_first_work, m_last_work, m_last_store;  // so far, of each chunk
};

}  // namespace

StreamPlan plan_stream(std::string const& label, StreamShape const& shape,
                       StreamWishes const& wishes) {
  return Planner(label, shape, wishes).make();
}

}  // namespace KokkosHostSpaces::Impl
