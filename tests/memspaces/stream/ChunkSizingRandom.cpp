// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Random loops and chains of all sizes: what holds for the chunks of each of them.

#include "../Rounds.hpp"

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/stream/plan/StreamCost.hpp>
#include <KokkosHostSpaces/impl/stream/plan/ChunkSizing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace ChunkSizingRandom {

using namespace KokkosHostSpaces::Impl;
using KokkosHostSpaces::Error;

namespace {

std::string const label = "test";

class Random {
 public:
  explicit Random(unsigned seed) : m_random(seed) {
    // As many small numbers as large ones.
    std::int64_t const rows = size(40);
    auto const row          = [&] { return std::size_t(size(std::min(24, 44 - log_of(rows)))); };
    int const stages        = int(pick(1, 5));
    int made                = -1;
    for (int s = 0; s < stages; ++s) {
      bool const last = s + 1 == stages;
      StreamStage stage{0, rows, {}};
      if (last && pick(0, 2) == 0) {
        stage.begin = pick(0, rows);
        stage.end   = pick(stage.begin, rows);
      }
      if (made >= 0) stage.accesses.push_back({made, halo(rows), false});
      for (std::int64_t reads = pick(0, 2); reads > 0; --reads) {
        stage.accesses.push_back({buffer(row(), rows, true, false), halo(rows), false});
      }
      if (!last || pick(0, 3) > 0 || stage.accesses.empty()) {
        made = buffer(row(), rows, last && pick(0, 3) == 0, last);
        stage.accesses.push_back({made, 0, true});
      }
      shape.stages.push_back(stage);
    }
    wishes.memory = std::size_t(size(34)) << 8;
    wishes.slots  = int(pick(0, 4));
    if (pick(0, 4) == 0) wishes.most_rows = size(20);
    if (pick(0, 4) == 0) wishes.chunk_rows = size(40);
  }

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(m_random);
  }
  std::int64_t size(int most) { return std::int64_t(1) << pick(0, most) | pick(0, 1); }
  std::int64_t halo(std::int64_t rows) {
    return pick(0, 1) == 0 ? 0 : std::min(size(log_of(rows)), rows);
  }
  static int log_of(std::int64_t number) { return int(std::log2(double(number))); }
  int buffer(std::size_t row_bytes, std::int64_t rows, bool loaded, bool stored) {
    shape.buffers.push_back(
        {.name = "x", .row_bytes = row_bytes, .rows = rows, .loaded = loaded, .stored = stored});
    return int(shape.buffers.size()) - 1;
  }

  StreamShape shape;
  PlanOptions wishes;

 private:
  std::mt19937 m_random;
};

std::optional<std::int64_t> chosen(StreamShape const& shape, PlanOptions const& wishes) {
  StageSkew const lags(label, shape);
  try {
    return ChunkSizing(label, shape, wishes, lags).choose_rows();
  } catch (Error const&) {
    return {};
  }
}

// By trying all numbers of rows: the largest that fits and is wanted, else the smallest that fits.
std::optional<std::int64_t> best(StreamShape const& shape, PlanOptions const& wishes) {
  PlanOptions rich    = wishes;
  rich.memory         = std::numeric_limits<std::size_t>::max();
  std::int64_t wanted = chosen(shape, rich).value();
  StageSkew const lags(label, shape);
  ChunkSizing const sizes(label, shape, wishes, lags);
  std::int64_t most = lags.way();
  if (wishes.most_rows > 0) most = std::min(most, wishes.most_rows);
  auto const fits = [&](std::int64_t rows) { return sizes.layout(rows).memory <= wishes.memory; };
  for (std::int64_t rows = wanted; rows >= 1; --rows)
    if (fits(rows)) return rows;
  for (std::int64_t rows = wanted; rows <= most; ++rows)
    if (fits(rows)) return rows;
  return {};
}

// The best one, or whole pages instead.
bool is_best(std::int64_t rows, std::int64_t best, std::int64_t page_rows) {
  return rows == best ||
         (page_rows > 1 && rows < best && rows > best / 4 * 3 && rows % page_rows == 0);
}

// Each row of each stage once, in launches that are not too long, of rows that are on the device.
bool launches_all(StreamShape const& shape, StreamPlan const& plan, PlanOptions const& wishes) {
  std::vector<std::int64_t> done;
  for (StreamStage const& stage : shape.stages) done.push_back(stage.begin);
  for (StreamOperation const& operation : plan.operations) {
    if (operation.action != StreamAction::launch) continue;
    std::int64_t const rows = operation.end - operation.begin;
    if (operation.begin != done[at(operation.stage)] || rows < 1) return false;
    if (rows > plan.chunk_rows || (wishes.most_rows > 0 && rows > wishes.most_rows)) return false;
    done[at(operation.stage)] = operation.end;
    std::size_t origin        = operation.first_origin;
    for (StreamAccess const& access : shape.stages[at(operation.stage)].accesses) {
      StreamBuffer const& buffer = shape.buffers[at(access.buffer)];
      auto const row_bytes       = std::int64_t(buffer.row_bytes);
      std::int64_t const first   = std::max<std::int64_t>(operation.begin - access.halo, 0);
      std::int64_t const last    = std::min(operation.end + access.halo, buffer.rows);
      std::int64_t const begin   = plan.origins[origin++] + first * row_bytes;
      if (begin < 0 || begin + (last - first) * row_bytes > std::int64_t(plan.memory)) return false;
    }
  }
  for (std::size_t s = 0; s < shape.stages.size(); ++s)
    if (done[s] != shape.stages[s].end) return false;
  return true;
}

// Each row over the link once, within the memory, and as many bytes as the plan and the cost model
// say.
bool copies_each_row_once(StreamShape const& shape, StreamPlan const& plan) {
  StageSkew const lags(label, shape);
  std::vector<std::int64_t> loaded;
  for (std::size_t b = 0; b < shape.buffers.size(); ++b) loaded.push_back(lags.load(int(b)).begin);
  std::size_t to_device = 0, to_host = 0;
  for (StreamOperation const& operation : plan.operations) {
    bool const load  = operation.action == StreamAction::load;
    bool const store = operation.action == StreamAction::store;
    for (std::size_t p = operation.first_piece; p < operation.last_piece; ++p) {
      StreamPiece const& piece = plan.pieces[p];
      if (!store && piece.to + piece.bytes > plan.memory) return false;
      if (!load && piece.from + piece.bytes > plan.memory) return false;
      if (store) to_host += piece.bytes;
      if (!load) continue;
      to_device += piece.bytes;
      std::size_t const row_bytes = shape.buffers[at(piece.buffer)].row_bytes;
      if (piece.from != std::size_t(loaded[at(piece.buffer)]) * row_bytes) return false;
      loaded[at(piece.buffer)] += std::int64_t(piece.bytes / row_bytes);
    }
  }
  if (to_device != plan.bytes_to_device || to_host != plan.bytes_to_host) return false;
  for (ArgumentCost const& argument : cost_of(shape).arguments) {
    to_device -= argument.to_device;
    to_host -= argument.to_host;
  }
  return to_device == 0 && to_host == 0;
}

}  // namespace

TEST_CASE("chunks of loops and chains of any size fit their memory, if any number of rows does",
          "[stream_sizes]") {
  int wrong = 0, refused = 0, planned = 0, compared = 0;
  for (int seed = 0; seed < rounds(2000); ++seed) {
    Random random(static_cast<unsigned>(seed));
    StreamShape const& shape  = random.shape;
    PlanOptions const& wishes = random.wishes;
    StageSkew const lags(label, shape);
    std::int64_t const way = lags.way();
    auto const rows        = chosen(shape, wishes);
    bool good              = rows == chosen(shape, wishes);
    if (rows) {
      good = good && *rows <= way && (way == 0 || *rows >= 1);
      good = good && (wishes.most_rows == 0 || *rows <= wishes.most_rows);
      good = good && (wishes.chunk_rows == 0 || *rows == std::min(way, wishes.chunk_rows));
      good = good && ChunkSizing(label, shape, wishes, lags).layout(*rows).memory <= wishes.memory;
    }
    refused += !rows;
    if (wishes.chunk_rows == 0 && way > 0 && way < 5000) {
      auto const by_trying = best(shape, wishes);
      good                 = good && rows.has_value() == by_trying.has_value();
      if (rows && good)
        good = is_best(*rows, *by_trying, ChunkSizing(label, shape, wishes, lags).page_rows());
      ++compared;
    }
    if (rows && (way == 0 || way / *rows < 500)) {
      StreamPlan const plan = plan_stream(label, shape, wishes);
      good                  = good && plan.memory <= wishes.memory;
      good                  = good && plan.chunks <= (way == 0 ? 0 : way / *rows + 8);
      good = good && launches_all(shape, plan, wishes) && copies_each_row_once(shape, plan);
      ++planned;
    }
    if (!good) UNSCOPED_INFO("seed " << seed);
    wrong += !good;
  }
  CHECK(wrong == 0);
  CHECK(refused > rounds(2000) / 20);
  CHECK(planned > rounds(2000) / 4);
  CHECK(compared > rounds(2000) / 8);
}

}  // namespace ChunkSizingRandom
