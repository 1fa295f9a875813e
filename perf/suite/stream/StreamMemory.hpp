// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The arrays of both sides, their contents, and the verification of results by the host.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_MEMORY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_MEMORY_HPP

#include "../Instance.hpp"
#include "StreamBaseline.hpp"

#include <KokkosHostSpaces/MappedSpace.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

using OnHost =
    Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>;

// Contents are whole numbers, so that sums and steps of the stencil are exact in any order. A step adds 1.5 to
// those of a stencil, further than it reaches from the faces of the cube.
inline double content_of_b(std::int64_t i) { return double(i % 251); }
inline double content_of_c(std::int64_t i) { return double(i % 127); }
inline double content_of_cube(StreamShape const& shape, std::int64_t e) {
  std::int64_t const i = e / shape.plane(), j = e / shape.columns % shape.rows,
                     k = e % shape.columns;
  return double(i * i + 2 * j * j + 3 * k * k);
}

/// Points between one and the next face of the cube.
inline std::int64_t distance_from_faces(StreamShape const& shape, std::int64_t e) {
  std::int64_t const i = e / shape.plane(), j = e / shape.columns % shape.rows,
                     k = e % shape.columns;
  return std::min({i, j, k, shape.planes - 1 - i, shape.rows - 1 - j, shape.columns - 1 - k});
}

/// Both sides use the same memory, since its place may change the rate.
class StreamMemory {
  using Array = Kokkos::View<double*, MappedSpace>;

 public:
  explicit StreamMemory(std::int64_t elements)
      : m_b(array("b", elements)), m_c(array("c", elements)), m_a(array("a", elements)) {}

  StreamArrays arrays() const { return {m_a.data(), m_b.data(), m_c.data()}; }

 private:
  static Array array(std::string const& label, std::int64_t elements) {
    return Array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), std::size_t(elements));
  }

  Array m_b, m_c, m_a;
};

template <class Body>
void for_each_element(StreamLoop const& loop, Body const& body) {
  Kokkos::parallel_for("elements", OnHost(0, loop.shape.elements()), body);
  Kokkos::DefaultHostExecutionSpace().fence();
}

/// Adds term(i) over all elements.
template <class Number, class Term>
Number sum_of(StreamLoop const& loop, Term const& term) {
  Number sum = 0;
  Kokkos::parallel_reduce(
      "sum", OnHost(0, loop.shape.elements()),
      [&term](std::int64_t i, Number& part) { part += Number(term(i)); }, sum);
  return sum;
}

inline void fill_stream(StreamLoop const& loop) {
  bool const stencil = loop.operation == StreamOperation::stencil;
  for_each_element(loop, [=](std::int64_t i) {
    loop.arrays.b[i] = stencil ? content_of_cube(loop.shape, i) : content_of_b(i);
    loop.arrays.c[i] = content_of_c(i);
  });
}

/// Resets `a`: the input of an update, poison for other loops.
inline void reset_stream(StreamLoop const& loop) {
  bool const update = loop.operation == StreamOperation::update;
  for_each_element(loop, [=](std::int64_t i) {
    loop.arrays.a[i] = update ? content_of_b(i) : -1. - double(i % 3);
  });
}

inline double expected_dot(StreamLoop const& loop) {
  return sum_of<double>(loop, [every = loop.every](std::int64_t i) {
    return i / stream_run % every == 0 ? content_of_b(i) * content_of_c(i) : 0;
  });
}

/// Counts wrong elements after a triad, an update or some steps of the stencil since reset_stream.
inline std::int64_t count_wrong_elements(StreamLoop const& loop, int steps) {
  double const* const a = loop.arrays.a;
  if (loop.operation == StreamOperation::stencil)
    return sum_of<std::int64_t>(loop, [=, shape = loop.shape](std::int64_t i) {
      std::int64_t const distance = distance_from_faces(shape, i);
      if (distance == 0) return a[i] != content_of_cube(shape, i);
      return distance >= steps && a[i] != content_of_cube(shape, i) + 1.5 * steps;
    });
  bool const triad = loop.operation == StreamOperation::triad;
  return sum_of<std::int64_t>(loop, [=](std::int64_t i) {
    return a[i] != (triad ? content_of_b(i) + 3 * content_of_c(i) : 7 - content_of_b(i));
  });
}

}  // namespace KokkosHostSpaces::Perf

#endif
