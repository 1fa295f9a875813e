// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Random streamed loops and chains over rows of whole numbers, their results by a loop on the host,
// and the bytes that their arguments imply. Without Kokkos.

#ifndef KOKKOS_HOST_SPACES_TESTS_STREAM_CASES_HPP
#define KOKKOS_HOST_SPACES_TESTS_STREAM_CASES_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamBinding.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamExecutor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace StreamCases {

using namespace KokkosHostSpaces::Impl;
using Number = std::uint64_t;
using Array  = std::vector<Number>;

struct Bytes {
  std::size_t to_device = 0, to_host = 0;
  bool operator==(Bytes const&) const = default;
};

class Case {
 public:
  /// \param crossed stages with ranges of their own that write several arrays, which stages before
  /// and behind them read
  explicit Case(unsigned seed, bool crossed = false) : m_random(seed) {
    m_rows  = pick(1, 40);
    m_width = pick(1, 4);
    for (int a = 0; a < 4; ++a) {
      m_arrays.emplace_back(std::size_t(m_rows * m_width));
      for (Number& number : m_arrays.back()) number = m_random();
    }
    int const stages = crossed || pick(0, 2) == 0 ? int(pick(2, 4)) : 1;
    for (int s = 0; s < stages; ++s) crossed ? add_crossed(s) : add_stage(s, s + 1 == stages);
    options.chunk_rows = pick(0, 3) == 0 ? 0 : pick(1, 12);
    options.slots      = int(pick(0, 5));
    options.memory     = std::size_t(1) << 30;
    // Of the first rows, so that there are several chunks.
    options.smallest_chunk = std::size_t(pick(1, 100));
    options.largest_chunk  = std::size_t(pick(50, 500));
    if (crossed && pick(0, 2) == 0) options.memory = std::size_t(pick(1, 30)) * 512;
  }

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(m_random);
  }

  /// One loop after the other, each reading what was there before it.
  std::vector<Array> expected() const {
    std::vector<Array> arrays = m_arrays;
    std::vector<Array> between(loops.size(), Array(m_arrays[0].size()));
    for (std::size_t s = 0; s < loops.size(); ++s) {
      std::vector<Array> const before = arrays;
      std::vector<Array> const made   = between;
      std::vector<Number const*> from;
      std::vector<Number*> to;
      for (ArgumentFacts const& argument : loops[s].arguments) {
        std::size_t const a = index(argument);
        bool const view     = argument.intermediate == nullptr;
        bool const reads    = argument.access == Access::read;
        from.push_back(view ? before[a].data() : made[a].data());
        to.push_back(reads ? nullptr : view ? arrays[a].data() : between[a].data());
      }
      std::int64_t const begin = loops[s].lower[0], end = loops[s].upper[0];
      for (std::int64_t row = begin; row < end; ++row) compute(int(s), row, from, to);
    }
    return arrays;
  }

  /// The bytes that a loop (not a chain) over some rows copies, by the table of LargerThanGpu.md: of
  /// each View that is read or updated, or written in a part of its rows, the rows of the range and of
  /// the largest halo; to the host, the rows of the range of a View that is written or updated.
  Bytes implied(StreamRows const& range) const {
    Bytes bytes;
    if (range.count() == 0) return bytes;
    std::map<char const*, StreamRows> reads;
    for (ArgumentFacts const& argument : loops.front().arguments) {
      bool const whole = loops.front().lower[1] == 0 && loops.front().upper[1] == m_width;
      if (argument.access != Access::read)
        bytes.to_host += std::size_t(range.count() * row_bytes());
      if (argument.access == Access::write && whole) continue;
      StreamRows& rows = reads.try_emplace(argument.data, range).first->second;
      rows.begin = std::min(rows.begin, std::max<std::int64_t>(range.begin - argument.halo, 0));
      rows.end   = std::max(rows.end, std::min(range.end + argument.halo, m_rows));
    }
    for (auto const& [array, rows] : reads)
      bytes.to_device += std::size_t(rows.count() * row_bytes());
    return bytes;
  }

  /// Runs the body of a stage over the rows of a launch.
  void run(StreamLaunch const& launch, std::vector<char*> const& first_rows) const {
    std::vector<Number const*> from;
    std::vector<Number*> to;
    for (std::size_t a = 0; a < loops[std::size_t(launch.stage)].arguments.size(); ++a) {
      bool const reads = loops[std::size_t(launch.stage)].arguments[a].access == Access::read;
      from.push_back(reinterpret_cast<Number const*>(first_rows[a]));
      to.push_back(reads ? nullptr : reinterpret_cast<Number*>(first_rows[a]));
    }
    for (std::int64_t row = launch.begin; row < launch.end; ++row)
      compute(launch.stage, row, from, to);
  }

  std::vector<Array> const& arrays() const { return m_arrays; }
  std::vector<Array>& arrays() { return m_arrays; }
  std::int64_t row_bytes() const { return m_width * std::int64_t(sizeof(Number)); }

  std::vector<LoopFacts> loops;
  PlanOptions options;

 private:
  ArgumentFacts view(std::size_t number, Access access, std::int64_t halo) {
    ArgumentFacts facts;
    facts.label         = "array " + std::to_string(number);
    facts.space         = "a space";
    facts.side          = Side::page_locked;
    facts.data          = reinterpret_cast<char*>(m_arrays[number].data());
    facts.element_bytes = sizeof(Number);
    facts.rank          = 2;
    facts.extents[0]    = m_rows;
    facts.extents[1]    = m_width;
    facts.access        = access;
    facts.halo          = halo;
    return facts;
  }

  ArgumentFacts between(int stage, Access access, std::int64_t halo) {
    ArgumentFacts facts = view(0, access, halo);
    facts.label         = "made by stage " + std::to_string(stage);
    facts.data          = nullptr;
    facts.intermediate  = &m_identities[stage];
    return facts;
  }

  void add_stage(int s, bool last) {
    LoopFacts loop;
    loop.rank                 = 2;
    bool const whole          = !last || pick(0, 2) == 0;
    loop.lower[0]             = whole ? 0 : pick(0, m_rows);
    loop.upper[0]             = whole ? m_rows : pick(loop.lower[0], m_rows);
    loop.lower[1]             = whole ? 0 : pick(0, 1) * pick(0, m_width - 1);
    loop.upper[1]             = m_width;
    bool const update         = pick(0, 3) == 0 && last;
    std::size_t const written = 3;
    for (std::int64_t reads = pick(0, 3); reads > 0; --reads) {
      // Perhaps the array that is written.
      std::size_t const array = std::size_t(pick(0, update ? 2 : 3));
      loop.arguments.push_back(view(array, Access::read, halo()));
    }
    if (s > 0) loop.arguments.push_back(between(s - 1, Access::read, halo()));
    if (s > 1 && pick(0, 1) == 0) loop.arguments.push_back(between(s - 2, Access::read, halo()));
    if (last)
      loop.arguments.push_back(view(written, update ? Access::update : Access::write, 0));
    else
      loop.arguments.push_back(between(s, Access::write, 0));
    loops.push_back(loop);
  }

  void add_crossed(int s) {
    LoopFacts loop;
    loop.rank        = 2;
    bool const whole = pick(0, 2) > 0, made = pick(0, 2) > 0;
    loop.lower[0]   = whole ? 0 : pick(0, m_rows);
    loop.upper[0]   = whole ? m_rows : pick(loop.lower[0], m_rows);
    loop.lower[1]   = whole || made ? 0 : pick(0, m_width - 1);
    loop.upper[1]   = m_width;
    bool updated[4] = {};
    for (std::size_t a = 0; a < 4; ++a) {
      if (m_written[a] || pick(0, 2) > 0) continue;
      m_written[a] = true;
      updated[a]   = pick(0, 2) == 0;
      loop.arguments.push_back(view(a, updated[a] ? Access::update : Access::write, 0));
    }
    for (std::int64_t reads = pick(0, 3); reads > 0; --reads)
      if (std::size_t const a = std::size_t(pick(0, 3)); !updated[a])
        loop.arguments.push_back(view(a, Access::read, halo()));
    for (int before = 0; before < s; ++before)
      if (m_made[before] && pick(0, 1) == 0)
        loop.arguments.push_back(between(before, Access::read, halo()));
    m_made[s] = made || loop.arguments.empty();
    if (m_made[s]) loop.arguments.push_back(between(s, Access::write, 0));
    loops.push_back(loop);
  }

  std::int64_t halo() { return pick(0, 2) == 0 ? 0 : std::min(pick(0, 5), m_rows); }

  std::size_t index(ArgumentFacts const& argument) const {
    if (argument.intermediate != nullptr)
      return std::size_t(static_cast<char const*>(argument.intermediate) - m_identities);
    for (std::size_t a = 0; a < m_arrays.size(); ++a)
      if (argument.data == reinterpret_cast<char const*>(m_arrays[a].data())) return a;
    return 0;
  }

  // A different number for each mistake.
  void compute(int stage, std::int64_t row, std::vector<Number const*> const& from,
               std::vector<Number*> const& to) const {
    LoopFacts const& loop = loops[std::size_t(stage)];
    for (std::int64_t j = loop.lower[1]; j < loop.upper[1]; ++j) {
      Number sum = Number(row * 31 + j + stage);
      for (std::size_t a = 0; a < from.size(); ++a) {
        ArgumentFacts const& argument = loop.arguments[a];
        if (argument.access == Access::write) continue;
        for (std::int64_t d = -argument.halo; d <= argument.halo; ++d)
          if (row + d >= 0 && row + d < m_rows)
            sum = sum * 1000003 + from[a][(row + d) * m_width +
                                          (argument.access == Access::read ? m_width - 1 - j : j)];
      }
      for (std::size_t a = 0; a < to.size(); ++a)
        if (to[a] != nullptr) to[a][row * m_width + j] = sum;
    }
  }

  std::mt19937 m_random;
  std::int64_t m_rows = 0, m_width = 0;
  std::vector<Array> m_arrays;
  char m_identities[8] = {};
  bool m_written[4] = {}, m_made[8] = {};
};

}  // namespace StreamCases

#endif
