// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>
#include <KokkosHostSpaces/impl/stream/plan/StreamTiling.hpp>

#include <algorithm>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

class Planner {
 public:
  Planner(std::string const& label, StreamShape const& shape, PlanOptions const& options)
      : m_shape(shape),
        m_skew(label, shape),
        m_tiling(tile_stream(label, shape, options, m_skew)),
        m_origins(shape.buffers.size(), 0) {}

  StreamPlan make() {
    m_skew.cut(m_tiling.rows);
    m_plan.slots      = m_tiling.slots;
    m_plan.memory     = m_tiling.memory;
    m_plan.chunk_rows = m_tiling.rows.most;
    m_plan.chunks     = m_skew.chunks();
    m_first_work.reserve(std::size_t(m_plan.chunks));
    for (m_chunk = 0; m_chunk < m_plan.chunks; ++m_chunk) add_chunk();
    number_events();
    return std::move(m_plan);
  }

 private:
  // --- operations ---
  // Places the windows of a chunk. A buffer that crosses the link has a slot for each chunk in flight.
  // Rows of one that stays on the device remain where they are until the memory ends; then the rows
  // that are kept move to its begin.
  void place_windows() {
    m_origins_before = m_origins;
    for (int b = 0; b < int(m_shape.buffers.size()); ++b) {
      if (m_shape.buffers[at(b)].fixed) continue;
      StreamWindows const& windows   = m_tiling.windows[at(b)];
      std::ptrdiff_t const row_bytes = std::ptrdiff_t(m_shape.buffers[at(b)].row_bytes);
      StreamRows const rows          = m_skew.window(b, m_chunk);
      std::size_t const begin =
          windows.begin + std::size_t(m_chunk % windows.slots) * windows.bytes;
      bool const fits = m_chunk > 0 && windows.slots == 1 &&
                        m_origins[at(b)] + std::ptrdiff_t(rows.end) * row_bytes <=
                            std::ptrdiff_t(windows.begin + windows.bytes);
      if (!fits) m_origins[at(b)] = std::ptrdiff_t(begin) - std::ptrdiff_t(rows.begin) * row_bytes;
    }
  }

  std::size_t on_device(std::vector<std::ptrdiff_t> const& origins, int buffer,
                        std::int64_t row) const {
    return std::size_t(origins[at(buffer)] +
                       std::ptrdiff_t(row) * std::ptrdiff_t(m_shape.buffers[at(buffer)].row_bytes));
  }
  std::size_t on_device(int buffer, std::int64_t row) const {
    return on_device(m_origins, buffer, row);
  }

  std::size_t on_host(int buffer, std::int64_t row) const {
    return std::size_t(row) * m_shape.buffers[at(buffer)].row_bytes;
  }

  std::size_t bytes_of(int buffer, StreamRows const& rows) const {
    return std::size_t(rows.count()) * m_shape.buffers[at(buffer)].row_bytes;
  }

  // Adds the operation, unless it is a copy of nothing.
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

  // The first work of a chunk waits for its loads, and for the stores of the rows that its windows
  // had before.
  void wait_for_data(StreamOperation& operation) const {
    operation.after[0] = m_load;
    operation.after[1] = history(m_last_store);
  }

  // The last operation of a kind when the windows of this chunk were used before.
  int history(std::vector<int> const& last) const {
    std::int64_t const before = m_chunk - m_plan.slots;
    return before < 0 ? -1 : last[std::size_t(before)];
  }

  void add_chunk() {
    m_work_of_chunk = -1;
    place_windows();
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
      kept |= m_skew.kept(b) > 0;
      stored |= buffer.stored;
      StreamRows const rows{m_skew.loaded(b, m_chunk - 1), m_skew.loaded(b, m_chunk)};
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
    // The old window is read once more, by the first work of the chunk after it, which keeps rows.
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
                             on_device(buffer, rows.begin), bytes_of(buffer, rows)});
    m_plan.bytes_to_device += bytes_of(buffer, rows);
  }

  void add_keeps() {
    StreamOperation operation = start(StreamAction::keep);
    for (int b = 0; b < int(m_shape.buffers.size()) && m_chunk > 0; ++b) {
      StreamRows const rows{m_skew.window(b, m_chunk).begin, m_skew.present(b, m_chunk - 1)};
      if (rows.count() == 0) continue;
      std::size_t const from = on_device(m_origins_before, b, rows.begin);
      std::size_t const to   = on_device(b, rows.begin);
      if (from == to) continue;
      m_plan.pieces.push_back({b, StreamSource::array, from, to, bytes_of(b, rows)});
    }
    add(operation);
    if (operation.first_piece != m_plan.pieces.size()) m_keep = m_work;
  }

  void add_launch(int stage) {
    StreamOperation operation = start(StreamAction::launch);
    operation.stage           = stage;
    operation.begin           = m_skew.done(stage, m_chunk - 1);
    operation.end             = m_skew.done(stage, m_chunk);
    if (operation.begin >= operation.end) return;
    add_seeds(stage, {operation.begin, operation.end});
    operation.first_piece  = m_plan.pieces.size();
    operation.first_origin = m_plan.origins.size();
    for (StreamAccess const& access : m_shape.stages[at(stage)].accesses)
      m_plan.origins.push_back(m_origins[at(access.buffer)]);
    add(operation);
  }

  void add_seeds(int stage, StreamRows const& rows) {
    StreamOperation operation = start(StreamAction::seed);
    for (StreamAccess const& access : m_shape.stages[at(stage)].accesses) {
      int const from = m_shape.buffers[at(access.buffer)].seed;
      if (!access.writes || from < 0) continue;
      m_plan.pieces.push_back({access.buffer, StreamSource::array, on_device(from, rows.begin),
                               on_device(access.buffer, rows.begin), bytes_of(from, rows)});
    }
    add(operation);
  }

  void add_stores() {
    StreamOperation operation = start(StreamAction::store);
    for (int b = 0; b < int(m_shape.buffers.size()); ++b) {
      int const writer = m_skew.writer(b);
      if (!m_shape.buffers[at(b)].stored || writer < 0) continue;
      StreamRows const rows{std::max(m_skew.done(writer, m_chunk - 1), m_shape.own.begin),
                            std::min(m_skew.done(writer, m_chunk), m_shape.own.end)};
      if (rows.count() == 0) continue;
      m_plan.pieces.push_back({b, StreamSource::array, on_device(b, rows.begin),
                               on_host(b, rows.begin), bytes_of(b, rows)});
      m_plan.bytes_to_host += bytes_of(b, rows);
    }
    operation.after[0] = m_work;
    add(operation);
  }

  // Gives an event the number of an earlier one whose last wait is enqueued before it.
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

  StreamShape const& m_shape;
  StageSkew m_skew;
  StreamTiling m_tiling;
  StreamPlan m_plan;

  // Offsets that row 0 of each buffer would have, in this chunk and in the one before. Fixed buffers
  // have no windows.
  std::vector<std::ptrdiff_t> m_origins, m_origins_before;
  std::int64_t m_chunk = 0;
  int m_load = -1, m_work = -1, m_store = -1, m_keep = -1;  // the last operations so far
  int m_work_of_chunk = -1;
  std::vector<int> m_first_work, m_last_work, m_last_store;  // up to each chunk
};

}  // namespace

StreamPlan plan_stream(std::string const& label, StreamShape const& shape,
                       PlanOptions const& options) {
  return Planner(label, shape, options).make();
}

}  // namespace KokkosHostSpaces::Impl
