// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Random strided copies, what they should do, and the smallest one that does not.

#ifndef KOKKOS_HOST_SPACES_TESTS_RANDOM_COPIES_HPP
#define KOKKOS_HOST_SPACES_TESTS_RANDOM_COPIES_HPP

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace RandomCopies {

using Numbers = std::vector<std::size_t>;

struct Side {
  Numbers order;  ///< of dimensions, the fastest first
  Numbers gaps;   ///< elements after each
  std::size_t offset = 0;
};

struct Case {
  std::size_t element = 1;  ///< bytes
  Numbers extents;
  Side dst, src;

  Numbers strides(Side const& side) const {
    Numbers result(extents.size());
    std::size_t next = 1;
    for (std::size_t const r : side.order) {
      result[r] = next;
      next      = next * extents[r] + side.gaps[r];
    }
    return result;
  }
  /// Elements up to the last one.
  std::size_t span(Side const& side) const {
    Numbers const stride = strides(side);
    std::size_t last     = side.offset;
    for (std::size_t r = 0; r < extents.size(); ++r) last += (extents[r] - 1) * stride[r];
    return last + 1;
  }
  /// Element by element.
  void copy(unsigned char* to, unsigned char const* from) const {
    Numbers const a = strides(dst), b = strides(src);
    Numbers index(extents.size(), 0);
    while (true) {
      std::size_t i = dst.offset, j = src.offset, r = 0;
      for (std::size_t k = 0; k < index.size(); ++k) {
        i += index[k] * a[k];
        j += index[k] * b[k];
      }
      std::memcpy(to + i * element, from + j * element, element);
      while (r < index.size() && ++index[r] == extents[r]) index[r++] = 0;
      if (r == index.size()) return;
    }
  }
  std::string text() const {
    std::ostringstream out;
    auto const list = [&](char const* name, Numbers const& numbers) {
      out << name;
      for (std::size_t const n : numbers) out << ' ' << n;
    };
    out << "elements of " << element << " bytes";
    list(", extents", extents);
    list(", destination: strides", strides(dst));
    out << " at " << dst.offset;
    list(", source: strides", strides(src));
    out << " at " << src.offset;
    return out.str();
  }
};

/// Of at most about `elements` elements.
inline Case make_case(std::mt19937& random, std::size_t element, std::size_t rank,
                      std::size_t elements) {
  auto const below = [&](std::size_t n) { return std::size_t(random()) % n; };
  Case made;
  made.element      = element;
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
    for (std::size_t r = 0; r < rank; ++r) side->gaps.push_back(dense ? 0 : below(3) * below(3));
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
