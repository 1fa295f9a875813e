// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/batch/PieceSweep.hpp>

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

// What is to be known of all, in loops that compilers turn into vectors.
struct Glance {
  std::uint32_t offsets = 0, lengths = 0;  ///< all of them, by a bitwise or
  std::uint32_t reach   = 0;               ///< no offset is further from 0, either way
  bool are_equally_long = true;
  std::size_t longest   = 0;

  explicit Glance(NearPieces const& pieces) {
    for (std::size_t i = 0; i < pieces.count; ++i) {
      NearEnds const ends = pieces.ends[i];
      offsets |= std::uint32_t(ends.dst) | std::uint32_t(ends.src);
      reach |=
          std::uint32_t(ends.dst ^ (ends.dst >> 31)) | std::uint32_t(ends.src ^ (ends.src >> 31));
    }
    std::uint32_t differ = 0;
    for (std::size_t i = 0; i < pieces.count; ++i) {
      lengths |= pieces.lengths[i];
      differ |= pieces.lengths[i] ^ pieces.lengths[0];
    }
    are_equally_long = differ == 0;
    longest          = are_equally_long ? pieces.lengths[0]
                                        : *std::max_element(pieces.lengths, pieces.lengths + pieces.count);
  }
};

struct Order {
  bool ascending;   ///< destinations, without overlaps
  bool neighbours;  ///< a piece continues the one before
};

// Whole numbers of 32 bits suffice for distances of pieces that are near each other.
template <class Int>
Order order_of(NearPieces const& pieces) {
  Int falls = 0;
  int joins = 0;
  for (std::size_t i = 1; i < pieces.count; ++i) {
    Int const length = Int(pieces.lengths[i - 1]);
    Int const to     = Int(pieces.ends[i].dst) - pieces.ends[i - 1].dst,
              from   = Int(pieces.ends[i].src) - pieces.ends[i - 1].src;
    falls |= to - length;
    joins |= int((to ^ length) == 0) & int((from ^ length) == 0);
  }
  return {falls >= 0, joins != 0};
}

Order order_of(NearPieces const& pieces, Glance const& sight) {
  return sight.reach >> 29 == 0 ? order_of<std::int32_t>(pieces) : order_of<std::int64_t>(pieces);
}

template <class Side>
Span span_of(NearPieces const& pieces, Side side) {
  std::int32_t least = 0, most = 0;
  for (std::size_t i = 0; i < pieces.count; ++i) {
    least = std::min(least, pieces.ends[i].*side);
    most  = std::max(most, pieces.ends[i].*side);
  }
  return {least, most + std::int64_t(pieces.longest)};
}

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

// A byte for each 2^n bytes of memory: bits would be fewer, but each would have to wait for its
// neighbour.
class Cells {
 public:
  explicit Cells(std::size_t count) : m_cells(kept()) { m_cells.assign(count + 1, 0); }

  void take(std::size_t first, std::size_t last) {
    std::uint8_t* cell = m_cells.data() + 1 + first;
    m_twice |= *cell;
    *cell = taken | begins;
    for (; first < last; ++first) {
      m_twice |= *++cell;
      *cell = taken;
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

// So many for each piece at most, each of so many bytes as need be: to sort costs no more.
constexpr std::size_t most_cells = 32;

// Is there a gap between any two destinations, so that none overlap, and none can be merged? False
// as well if it is small, and the pieces are long and begin anywhere.
bool destinations_have_gaps(NearPieces const& pieces, Glance const& sight) {
  Span const span = span_of(pieces, &NearEnds::dst);
  int shift       = std::countr_zero(sight.offsets | sight.lengths);
  while (std::size_t(span.end - span.first) >> shift > most_cells * pieces.count) ++shift;
  Cells taken((std::size_t(span.end - span.first) >> shift) + 1);
  for (std::size_t i = 0; i < pieces.count; ++i) {
    std::size_t const begin = std::size_t(pieces.ends[i].dst - span.first);
    taken.take(begin >> shift, (begin + pieces.lengths[i] - 1) >> shift);
  }
  return taken.all_have_gaps();
}

// Whatever the memory is that they are of.
bool are_plain(NearPieces const& pieces, Glance const& sight) {
  CopyThresholds const& known = copy_thresholds_in_use();
  std::size_t const regular   = pieces.count <= PieceSweep::most_of_call
                                    ? known.regular_pieces
                                    : known.regular_pieces_not_by_kernel;
  Order const order           = order_of(pieces, sight);
  if (order.neighbours) return false;
  if (may_be_regular(pieces, regular) && most_regular(pieces) >= regular) return false;
  return order.ascending || destinations_have_gaps(pieces, sight);
}

bool are_apart(NearPieces const& pieces, Span to, Span from) {
  return pieces.dst + to.end <= pieces.src + from.first ||
         pieces.src + from.end <= pieces.dst + to.first;
}

// Does no piece write where one reads?
bool sides_are_apart(NearPieces const& pieces) {
  std::int64_t const reach = std::int64_t(pieces.reach) + 1;
  Span const widest{-reach, reach + std::int64_t(pieces.longest)};
  return are_apart(pieces, widest, widest) ||
         are_apart(pieces, span_of(pieces, &NearEnds::dst), span_of(pieces, &NearEnds::src));
}

}  // namespace

NearPieces NearPieces::at(char* other_dst, char const* other_src) const {
  NearPieces moved = *this;
  moved.dst        = other_dst;
  moved.src        = other_src;
  bool const is_far_from_null =
      std::min(reinterpret_cast<std::uintptr_t>(other_dst),
               reinterpret_cast<std::uintptr_t>(other_src)) >= least_address;
  return is_far_from_null && sides_are_apart(moved) ? moved : NearPieces{};
}

NearPieces PieceSweep::finish() const {
  if (m_count == 0) return {};
  NearPieces pieces{};
  pieces.ends    = m_ends;
  pieces.lengths = m_lengths;
  pieces.count   = m_count;
  Glance const sight(pieces);
  pieces.longest          = sight.longest;
  pieces.offsets          = sight.offsets;
  pieces.reach            = sight.reach;
  pieces.are_equally_long = sight.are_equally_long;
  return are_plain(pieces, sight) ? pieces.at(m_first_dst, m_first_src) : NearPieces{};
}

}  // namespace KokkosHostSpaces::Impl
