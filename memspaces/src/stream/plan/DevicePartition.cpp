// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamTiling.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace KokkosHostSpaces::Impl {

namespace {

// A stage must compute all rows of its part if its results are stored, or if it is a reduction
// without arrays; else only the rows that later stages read.
bool is_wanted(StreamShape const& shape, StreamStage const& stage) {
  bool writes = false, stores = false;
  for (StreamAccess const& access : stage.accesses) {
    writes = writes || access.writes;
    stores = stores || (access.writes && shape.buffers[std::size_t(access.buffer)].stored);
  }
  return stores || !writes;
}

bool writes(StreamStage const& stage, int buffer) {
  return std::any_of(stage.accesses.begin(), stage.accesses.end(), [&](StreamAccess const& access) {
    return access.writes && access.buffer == buffer;
  });
}

StreamRows hull(StreamRows const& a, StreamRows const& b) {
  if (a.count() == 0) return b;
  if (b.count() == 0) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

StreamRows both(StreamRows const& a, StreamRows const& b) {
  StreamRows const rows{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return rows.count() > 0 ? rows : StreamRows{a.begin, a.begin};
}

// Each stage computes the part's own rows, if its results are wanted, and the rows that later
// stages read.
void shrink_to(StreamShape& part, StreamRows const& own) {
  part.own = own;
  for (std::size_t s = part.stages.size(); s-- > 0;) {
    StreamStage& stage = part.stages[s];
    StreamRows const all{stage.begin, stage.end};
    StreamRows needed = is_wanted(part, stage) ? both(all, own) : StreamRows{all.begin, all.begin};
    for (std::size_t later = s + 1; later < part.stages.size(); ++later) {
      StreamStage const& reader = part.stages[later];
      if (reader.begin >= reader.end) continue;
      for (StreamAccess const& access : reader.accesses)
        if (!access.writes && writes(stage, access.buffer))
          needed = hull(needed, both(all, {reader.begin - access.halo, reader.end + access.halo}));
    }
    stage.begin = needed.begin;
    stage.end   = std::max(needed.begin, needed.end);
  }
}

}  // namespace

std::vector<double> weights_by(std::vector<double> const& rates) {
  std::vector<double> weights(rates.size(), 1);
  auto const [least, most] = std::minmax_element(rates.begin(), rates.end());
  constexpr double steps   = 16;
  for (std::size_t i = 0; i < rates.size() && *least > 0; ++i)
    weights[i] = std::max(std::round(steps * rates[i] / *most), 1.) / steps;
  return weights;
}

std::vector<StreamRows> split_rows(StreamRows const& rows, std::vector<double> const& weights,
                                   std::int64_t multiple) {
  double const sum = std::accumulate(weights.begin(), weights.end(), 0.),
               all = double(rows.count());
  double so_far    = 0;
  std::int64_t const unit =
      std::clamp<std::int64_t>(multiple, 1, std::max<std::int64_t>(rows.count(), 1));
  std::vector<StreamRows> parts;
  for (double const weight : weights) {
    so_far += weight;
    std::int64_t const to = rows.begin + unit * std::llround(so_far / sum * all / double(unit));
    parts.push_back({parts.empty() ? rows.begin : parts.back().end, std::min(to, rows.end)});
  }
  parts.back().end = rows.end;
  return parts;
}

std::vector<StreamShape> split_stream(StreamShape const& shape, std::vector<double> const& weights,
                                      std::int64_t multiple) {
  StreamRows all;
  for (StreamStage const& stage : shape.stages) all = hull(all, {stage.begin, stage.end});
  std::vector<StreamRows> own = split_rows(all, weights, multiple);
  own.front().begin           = std::numeric_limits<std::int64_t>::min();
  own.back().end              = std::numeric_limits<std::int64_t>::max();
  std::vector<StreamShape> parts;
  for (StreamRows const& rows : own) {
    parts.push_back(shape);
    shrink_to(parts.back(), rows);
  }
  return parts;
}

std::vector<RowsToSave> rows_to_save(std::string const& label, StreamShape const& part) {
  StageSkew const skew(label, part);
  std::vector<RowsToSave> result;
  for (std::size_t b = 0; b < part.buffers.size(); ++b) {
    StreamBuffer const& buffer = part.buffers[b];
    if (!buffer.loaded) continue;
    bool const changes = std::any_of(
        part.buffers.begin(), part.buffers.end(),
        [&](StreamBuffer const& other) { return other.stored && other.host == buffer.host; });
    StreamRows const load = skew.load(int(b));
    if (!changes || load.count() == 0) continue;
    StreamRows const below{load.begin, std::min(load.end, part.own.begin)};
    StreamRows const above{std::max(load.begin, part.own.end), load.end};
    if (below.count() > 0) result.push_back({int(b), below, false});
    if (above.count() > 0) result.push_back({int(b), above, true});
  }
  return result;
}

}  // namespace KokkosHostSpaces::Impl
