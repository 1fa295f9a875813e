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

// Contents are small whole numbers, so that sums and steps of the stencil are exact in any order.
inline double content_of_b(std::int64_t i) { return double(i % 251); }
inline double content_of_c(std::int64_t i) { return double(i % 127); }

/// Both sides use the same memory, since its place may change the rate.
class StreamMemory {
  using Array = Kokkos::View<double*, MappedSpace>;

 public:
  explicit StreamMemory(std::int64_t elements)
      : m_b(array("b", elements)), m_c(array("c", elements)), m_a(array("a", elements)) {}

  void fill(std::int64_t elements) const {
    Kokkos::parallel_for("fill", OnHost(0, elements), [b = m_b, c = m_c](std::int64_t i) {
      b(i) = content_of_b(i);
      c(i) = content_of_c(i);
    });
    Kokkos::DefaultHostExecutionSpace().fence();
  }

  StreamArrays arrays() const { return {m_a.data(), m_b.data(), m_c.data()}; }

 private:
  static Array array(std::string const& label, std::int64_t elements) {
    return Array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), std::size_t(elements));
  }

  Array m_b, m_c, m_a;
};

/// Resets `a`: the input of an update, poison for other loops.
inline void reset_stream(StreamLoop const& loop) {
  bool const update = loop.operation == StreamOperation::update;
  Kokkos::parallel_for("reset", OnHost(0, loop.shape.elements()),
                       [a = loop.arrays.a, update](std::int64_t i) {
                         a[i] = update ? content_of_b(i) : -1. - double(i % 3);
                       });
  Kokkos::DefaultHostExecutionSpace().fence();
}

inline double expected_dot(StreamLoop const& loop) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "expected_dot", OnHost(0, loop.shape.elements()),
      [every = loop.every](std::int64_t i, double& part) {
        if (i / stream_run % every == 0) part += content_of_b(i) * content_of_c(i);
      },
      sum);
  return sum;
}

/// Counts wrong elements after one triad or update since reset_stream.
inline std::int64_t count_wrong_elements(StreamLoop const& loop) {
  std::int64_t result = 0;
  bool const triad    = loop.operation == StreamOperation::triad;
  Kokkos::parallel_reduce(
      "count_wrong", OnHost(0, loop.shape.elements()),
      [a = loop.arrays.a, triad](std::int64_t i, std::int64_t& wrong) {
        wrong += a[i] != (triad ? content_of_b(i) + 3 * content_of_c(i) : 7 - content_of_b(i));
      },
      result);
  return result;
}

inline std::int64_t count_differing(double const* a, double const* b, std::int64_t elements) {
  std::int64_t result = 0;
  Kokkos::parallel_reduce(
      "count_differing", OnHost(0, elements),
      [=](std::int64_t i, std::int64_t& differing) { differing += a[i] != b[i]; }, result);
  return result;
}

/// Computes a point after some steps of the stencil from the points that it depends on.
class StencilReference {
 public:
  StencilReference(StreamShape const& shape, int steps)
      : m_extents{shape.planes, shape.rows, shape.columns}, m_steps(steps) {}

  double at(std::int64_t const (&point)[3]) {
    for (int d = 0; d < 3; ++d) {
      m_first[d] = std::max<std::int64_t>(0, point[d] - m_steps);
      m_size[d]  = std::min(m_extents[d], point[d] + m_steps + 1) - m_first[d];
    }
    m_now.resize(std::size_t(m_size[0] * m_size[1] * m_size[2]));
    each([this](std::int64_t i, std::int64_t j, std::int64_t k) {
      m_now[place(i, j, k)] = content_of_b(
          ((m_first[0] + i) * m_extents[1] + m_first[1] + j) * m_extents[2] + m_first[2] + k);
    });
    for (int step = 0; step < m_steps; ++step) advance();
    return m_now[place(point[0] - m_first[0], point[1] - m_first[1], point[2] - m_first[2])];
  }

 private:
  std::size_t place(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return std::size_t((i * m_size[1] + j) * m_size[2] + k);
  }

  template <class Action>
  void each(Action action) const {
    for (std::int64_t i = 0; i < m_size[0]; ++i)
      for (std::int64_t j = 0; j < m_size[1]; ++j)
        for (std::int64_t k = 0; k < m_size[2]; ++k) action(i, j, k);
  }

  // Faces of the cube stay constant. Faces of this part become wrong, and their neighbours in the next
  // step; the point in the middle is not reached.
  void advance() {
    m_before = m_now;
    each([this](std::int64_t i, std::int64_t j, std::int64_t k) {
      if (i == 0 || j == 0 || k == 0 || i == m_size[0] - 1 || j == m_size[1] - 1 ||
          k == m_size[2] - 1)
        return;
      auto const u = [&](std::int64_t di, std::int64_t dj, std::int64_t dk) {
        return m_before[place(i + di, j + dj, k + dk)];
      };
      m_now[place(i, j, k)] = 0.125 * (2 * u(0, 0, 0) + u(-1, 0, 0) + u(1, 0, 0) + u(0, -1, 0) +
                                       u(0, 1, 0) + u(0, 0, -1) + u(0, 0, 1));
    });
  }

  std::int64_t m_extents[3];
  int m_steps;
  std::int64_t m_first[3] = {}, m_size[3] = {};
  std::vector<double> m_now, m_before;
};

/// Counts wrong points in up to 256 planes.
inline std::int64_t count_wrong_points(StreamLoop const& loop, int steps) {
  StencilReference reference(loop.shape, steps);
  std::int64_t wrong      = 0;
  std::int64_t const step = std::max<std::int64_t>(1, loop.shape.planes / 256);
  for (std::int64_t i = 0; i < loop.shape.planes; i += step) {
    std::int64_t const j = i * 7919 % loop.shape.rows, k = i * 104729 % loop.shape.columns;
    wrong += loop.arrays.a[(i * loop.shape.rows + j) * loop.shape.columns + k] !=
             reference.at({i, j, k});
  }
  return wrong;
}

}  // namespace KokkosHostSpaces::Perf

#endif
