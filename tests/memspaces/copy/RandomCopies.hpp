// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Random strided copies, and the smallest one that fails.

#ifndef KOKKOS_HOST_SPACES_TESTS_RANDOM_COPIES_HPP
#define KOKKOS_HOST_SPACES_TESTS_RANDOM_COPIES_HPP

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace RandomCopies {

using Numbers = std::vector<std::size_t>;

struct Side {
  Numbers order;             ///< of dimensions, the fastest first
  Numbers gaps;              ///< elements after each
  std::vector<bool> repeat;  ///< the dimension has stride 0
  std::size_t offset = 0;
};

/// Calls `use` with each index below the extents.
template <class Use>
void for_each_index(Numbers const& extents, Use const& use) {
  Numbers index(extents.size(), 0);
  while (true) {
    use(index);
    std::size_t r = 0;
    while (r < index.size() && ++index[r] == extents[r]) index[r++] = 0;
    if (r == index.size()) return;
  }
}

inline std::size_t at(Numbers const& index, Numbers const& strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), std::size_t(0));
}

struct Case {
  Numbers extents;
  Side dst, src;

  Numbers strides(Side const& side) const {
    Numbers result(extents.size());
    std::size_t next = 1;
    for (std::size_t const r : side.order) {
      if (side.repeat[r]) continue;
      result[r] = next;
      next      = next * extents[r] + side.gaps[r];
    }
    return result;
  }
  /// Elements up to the last one.
  std::size_t span(Side const& side) const {
    Numbers last = extents;
    for (std::size_t& n : last) --n;
    return side.offset + at(last, strides(side)) + 1;
  }
  /// Calls `use` with the positions of each element in the destination and in the source.
  template <class Use>
  void for_each_element(Use const& use) const {
    Numbers const to = strides(dst), from = strides(src);
    for_each_index(extents, [&](Numbers const& index) {
      use(dst.offset + at(index, to), src.offset + at(index, from));
    });
  }
  std::string text() const {
    std::ostringstream out;
    auto const list = [&](char const* name, Numbers const& numbers) {
      out << name;
      for (std::size_t const n : numbers) out << ' ' << n;
    };
    list("extents", extents);
    list(", destination: strides", strides(dst));
    out << " at " << dst.offset;
    list(", source: strides", strides(src));
    out << " at " << src.offset;
    return out.str();
  }
};

/// Of at most about `elements` elements.
inline Case make_case(std::mt19937& random, std::size_t rank, std::size_t elements) {
  auto const below = [&](std::size_t n) { return std::size_t(random()) % n; };
  Case made;
  std::size_t count = 1;
  for (std::size_t r = 0; r < rank; ++r) {
    std::size_t const most = std::max<std::size_t>(1, elements / count);
    made.extents.push_back(1 + below(std::min<std::size_t>(most, below(6) == 0 ? 300 : 40)));
    count *= made.extents.back();
  }
  std::shuffle(made.extents.begin(), made.extents.end(), random);
  bool const same_order = below(3) == 0;
  for (Side* const side : {&made.dst, &made.src}) {
    bool const dense = below(2) == 0;
    side->order.resize(rank);
    std::iota(side->order.begin(), side->order.end(), std::size_t(0));
    std::shuffle(side->order.begin(), side->order.end(), random);
    for (std::size_t r = 0; r < rank; ++r) {
      side->gaps.push_back(dense ? 0 : below(3) * below(3));
      side->repeat.push_back(side == &made.src && below(12) == 0);
    }
    side->offset = below(2) * below(20);
  }
  if (same_order) made.src.order = made.dst.order;
  return made;
}

/// The smallest case that still fails, found step by step.
template <class Fails>
Case shrink(Case failing, Fails const& fails) {
  auto const smaller = [&]() -> std::optional<Case> {
    for (std::size_t r = 0; r < failing.extents.size(); ++r)
      for (std::size_t const less : {failing.extents[r] / 2, failing.extents[r] - 1}) {
        Case other       = failing;
        other.extents[r] = std::max<std::size_t>(1, less);
        if (other.extents != failing.extents && fails(other)) return other;
      }
    for (bool const of_dst : {true, false}) {
      Case other = failing;
      Side& side = of_dst ? other.dst : other.src;
      std::fill(side.gaps.begin(), side.gaps.end(), std::size_t(0));
      side.repeat.assign(side.repeat.size(), false);
      side.offset        = 0;
      bool const changed = other.text() != failing.text();
      if (changed && fails(other)) return other;
    }
    return std::nullopt;
  };
  while (auto const next = smaller()) failing = *next;
  return failing;
}

}  // namespace RandomCopies

#endif
