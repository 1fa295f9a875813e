// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StageSkew.hpp>

#include "../../../../backend/Error.hpp"

#include <algorithm>
#include <limits>

namespace KokkosHostSpaces::Impl {

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
    StreamStage const nobody{};
    StreamStage const& written = buffer.writer >= 0 ? m_shape.stages[at(buffer.writer)] : nobody;
    if (buffer.load.begin < written.begin || buffer.load.end > written.end)
      throw Error(label + ": rows " + std::to_string(buffer.load.begin) + " to " +
                  std::to_string(buffer.load.end) + " of \"" + m_shape.buffers[b].name +
                  "\" are read (its stage writes rows " + std::to_string(written.begin) + " to " +
                  std::to_string(written.end) +
                  "): give that stage a larger range, or the one that reads a smaller one");
  }
}

void StageSkew::find_lags() {
  bool first = true;
  for (std::size_t s = 0; s < m_shape.stages.size(); ++s) {
    StreamStage const& stage = m_shape.stages[s];
    if (is_empty(stage)) continue;
    for (StreamAccess const& access : stage.accesses) {
      int const writer          = m_buffers[at(access.buffer)].writer;
      bool const of_a_stage     = writer >= 0 && writer < int(s);
      std::int64_t const behind = of_a_stage ? m_lags[at(writer)] : 0;
      m_lags[s]                 = std::max(m_lags[s], behind + access.halo);
    }
    m_base      = first ? stage.begin : std::min(m_base, stage.begin);
    m_first_lag = first ? m_lags[s] : std::min(m_first_lag, m_lags[s]);
    first       = false;
  }
}

void StageSkew::find_kept_rows() {
  for (std::size_t b = 0; b < m_buffers.size(); ++b) {
    Buffer& buffer            = m_buffers[b];
    bool const from_host      = m_shape.buffers[b].loaded;
    std::int64_t const behind = from_host || buffer.writer < 0 ? 0 : m_lags[at(buffer.writer)];
    std::int64_t late         = 0;
    for (User const& user : buffer.users) {
      std::int64_t const lag = m_lags[at(user.stage)];
      buffer.kept            = std::max(buffer.kept, lag + user.halo - behind);
      late                   = std::max(
                            late, m_shape.stages[at(user.stage)].begin - m_base - m_first_lag + lag + user.halo);
    }
    buffer.rows_to_move = buffer.kept + late;
  }
}

std::int64_t StageSkew::way() const {
  std::int64_t result = 0;
  for (std::size_t s = 0; s < m_shape.stages.size(); ++s)
    if (!is_empty(m_shape.stages[s]))
      result = std::max(result, m_shape.stages[s].end + m_lags[s] - m_first_lag - m_base);
  return result;
}

namespace {

std::int64_t whole_pages(std::int64_t rows, std::int64_t page_rows) {
  return rows / page_rows * page_rows;
}

// Of `count` equal parts of `all`, or one more, so that they begin at whole pages; `least` at least,
// the last one, too, if there are few. 0 if that is not to be had.
std::int64_t even_rows(std::int64_t all, std::int64_t count, std::int64_t most, std::int64_t least,
                       std::int64_t page_rows) {
  std::int64_t const first = whole_pages(std::min(most, all / count + page_rows), page_rows);
  auto const good          = [&](std::int64_t rows) {
    return rows >= 8 * page_rows && (all - 1) / rows <= count;
  };
  for (std::int64_t rows = first; good(rows); rows -= page_rows)
    if ((all - 1) % rows + 1 >= least) return rows;
  return page_rows > 1 && count >= 8 && good(first) ? first : 0;
}

}  // namespace

void StageSkew::set_pace(std::int64_t chunk_rows, int halvings, std::int64_t page_rows) {
  std::int64_t const way = this->way(), begin = m_base + m_first_lag;
  m_fronts.clear();
  std::int64_t front = begin;
  auto const add     = [&](std::int64_t rows) { m_fronts.push_back(front += rows); };
  std::int64_t ramp  = 0;
  for (int h = 1; h <= halvings; ++h) ramp += chunk_rows >> h;
  if (halvings == 0 || way - 2 * ramp < chunk_rows) {
    for (std::int64_t rows = 0; rows < way; rows += chunk_rows) add(chunk_rows);
    return;
  }
  // The first chunks go on to the next page each, unless that is too far.
  auto const add_ramp = [&](std::int64_t page) {
    for (int h = halvings; h > 0; --h)
      add(whole_pages(front + (chunk_rows >> h) + page - 1, page) - front);
    return way - ramp - (front - begin);
  };
  std::int64_t middle = add_ramp(chunk_rows >= 8 * page_rows ? page_rows : 1);
  if (middle < chunk_rows) {
    m_fronts.clear();
    front  = begin;
    middle = add_ramp(1);
  }
  std::int64_t const count = (middle + chunk_rows - 1) / chunk_rows, least = chunk_rows >> halvings;
  std::int64_t const even = even_rows(middle, count, chunk_rows, least, page_rows);
  std::int64_t left = middle, parts = count;
  if (even > 0) {
    std::int64_t const last = middle % even;
    parts                   = last == 0 ? 0 : last >= least ? 1 : 3;  // or it would be too short
    while (left >= even * std::max<std::int64_t>(parts, 1)) {
      add(even);
      left -= even;
    }
  }
  for (std::int64_t c = 0; c < parts; ++c) add(left / parts + (c < left % parts ? 1 : 0));
  for (int h = 1; h <= halvings; ++h) add(chunk_rows >> h);
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

// What is loaded is loaded before a stage may write it.
std::int64_t StageSkew::present(int buffer, std::int64_t chunk) const {
  if (m_shape.buffers[at(buffer)].loaded) return loaded(buffer, chunk);
  int const by = writer(buffer);
  return by < 0 ? std::numeric_limits<std::int64_t>::min() : done(by, chunk);
}

StreamRows StageSkew::window(int buffer, std::int64_t chunk) const {
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

}  // namespace KokkosHostSpaces::Impl
