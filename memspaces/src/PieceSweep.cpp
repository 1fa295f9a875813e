// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/PieceSweep.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace KokkosHostSpaces::Impl {

namespace {

// Below no memory of a user lies so near to null that null is within reach.
constexpr std::uintptr_t least_address = std::uintptr_t(1) << 33;

// Of a side, in bytes from where the first piece begins.
struct Span {
  std::int64_t first, end;
};

// What is to be known of all. In loops that compilers turn into vectors.
struct Sight {
  std::int32_t least_dst = 0, most_dst = 0, least_src = 0, most_src = 0;
  std::uint32_t dsts = 0, srcs = 0, lengths = 0;  ///< all of them, by a bitwise or
  std::uint32_t lengths_differ = 0;

  explicit Sight(NearPieces const& pieces) {
    for (std::size_t i = 0; i < pieces.count; ++i) {
      NearEnds const ends = pieces.ends[i];
      least_dst           = std::min(least_dst, ends.dst);
      most_dst            = std::max(most_dst, ends.dst);
      least_src           = std::min(least_src, ends.src);
      most_src            = std::max(most_src, ends.src);
      dsts |= std::uint32_t(ends.dst);
      srcs |= std::uint32_t(ends.src);
    }
    for (std::size_t i = 0; i < pieces.count; ++i) {
      lengths |= pieces.lengths[i];
      lengths_differ |= pieces.lengths[i] ^ pieces.lengths[0];
    }
  }
  Span to(std::size_t longest) const { return {least_dst, most_dst + std::int64_t(longest)}; }
  Span from(std::size_t longest) const { return {least_src, most_src + std::int64_t(longest)}; }
};

// The most pieces in a row of equal length and at equal distances.
std::size_t most_regular(NearPieces const& pieces) {
  std::size_t most = 0, regular = 0;
  std::int64_t dst_step = 0, src_step = 0;
  for (std::size_t i = 1; i < pieces.count; ++i) {
    NearEnds const &before = pieces.ends[i - 1], &here = pieces.ends[i];
    std::int64_t const to   = std::int64_t(here.dst) - before.dst,
                       from = std::int64_t(here.src) - before.src;
    bool const goes_on      = regular > 0 && to == dst_step && from == src_step;
    regular  = pieces.lengths[i] != pieces.lengths[i - 1] ? 0 : goes_on ? regular + 1 : 2;
    most     = std::max(most, regular);
    dst_step = to;
    src_step = from;
  }
  return most;
}

// Is one of so many in a row among others like it, so that they may be of one 2-D copy?
bool may_be_regular(NearPieces const& pieces, std::size_t limit) {
  if (pieces.count < limit) return false;
  if (limit < 8) return true;
  auto const step = [&](std::size_t i, auto side) {
    return std::int64_t(pieces.ends[i].*side) - pieces.ends[i - 1].*side;
  };
  for (std::size_t i = 2; i < pieces.count; i += limit / 2)
    if (step(i, &NearEnds::dst) == step(i - 1, &NearEnds::dst) &&
        step(i, &NearEnds::src) == step(i - 1, &NearEnds::src))
      return true;
  return false;
}

// A byte for each 2^n bytes of memory, on whose multiples all pieces begin and end: bits would be
// fewer, but each would have to wait for its neighbour.
class Cells {
 public:
  explicit Cells(std::size_t count) : m_cells(kept()) { m_cells.assign(count + 1, 0); }

  void take(std::size_t first, std::size_t count) {
    std::uint8_t* const cell = m_cells.data() + 1 + first;
    m_twice |= cell[0];
    cell[0] = taken | begins;
    for (std::size_t i = 1; i < count; ++i) {
      m_twice |= cell[i];
      cell[i] = taken;
    }
  }
  // Was each cell taken once at most, and is one free between any two pieces?
  bool all_have_gaps() const {
    std::uint8_t touch = 0;
    for (std::size_t i = 1; i < m_cells.size(); ++i)
      touch = std::uint8_t(touch | ((m_cells[i] << 1) & m_cells[i - 1]));
    return (m_twice | (touch & taken)) == 0;
  }

 private:
  static constexpr std::uint8_t begins = 1, taken = 2;
  static std::vector<std::uint8_t>& kept() {
    thread_local std::vector<std::uint8_t> cells;
    return cells;
  }

  std::vector<std::uint8_t>& m_cells;
  std::uint8_t m_twice = 0;
};

// So many for each piece at most: to sort costs no more than more of them.
constexpr std::size_t most_cells = 32;

// Is there a gap between any two destinations, so that none overlap, and none can be merged?
bool destinations_have_gaps(NearPieces const& pieces, Sight const& sight) {
  Span const span         = sight.to(pieces.longest);
  int const shift         = std::countr_zero(sight.dsts | sight.lengths);
  std::size_t const cells = std::size_t(span.end - span.first) >> shift;
  if (cells > most_cells * pieces.count) return false;
  Cells taken(cells);
  for (std::size_t i = 0; i < pieces.count; ++i)
    taken.take(std::size_t(pieces.ends[i].dst - span.first) >> shift, pieces.lengths[i] >> shift);
  return taken.all_have_gaps();
}

bool sides_are_apart(NearPieces const& pieces, Sight const& sight) {
  Span const to = sight.to(pieces.longest), from = sight.from(pieces.longest);
  return pieces.dst + to.end <= pieces.src + from.first ||
         pieces.src + from.end <= pieces.dst + to.first;
}

}  // namespace

NearPieces PieceSweep::finish() const {
  NearPieces const none{};
  std::uintptr_t const dst = reinterpret_cast<std::uintptr_t>(m_first_dst),
                       src = reinterpret_cast<std::uintptr_t>(m_first_src);
  if (m_count == 0 || std::min(dst, src) < least_address) return none;
  NearPieces pieces{m_first_dst, m_first_src, m_ends, m_lengths, m_count, m_lengths[0], 0, true};
  Sight const sight(pieces);
  pieces.alignment        = dst | src | sight.dsts | sight.srcs;
  pieces.are_equally_long = sight.lengths_differ == 0;
  if (!pieces.are_equally_long) pieces.longest = *std::max_element(m_lengths, m_lengths + m_count);
  CopyThresholds const& known = copy_thresholds_in_use();
  std::size_t const regular =
      m_count <= most_of_call ? known.regular_pieces : known.regular_pieces_not_by_kernel;
  if (may_be_regular(pieces, regular) && most_regular(pieces) >= regular) return none;
  bool const is_plain =
      sides_are_apart(pieces, sight) && (m_falls >= 0 || destinations_have_gaps(pieces, sight));
  return is_plain ? pieces : none;
}

}  // namespace KokkosHostSpaces::Impl
