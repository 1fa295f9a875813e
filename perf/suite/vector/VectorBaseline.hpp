// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {

inline constexpr double scale_factor = 3.0;

/// Operations, with s = scale_factor. The last two result in a number, the others in a vector.
enum class VectorOperation {
  copy,     ///< c = a
  scale,    ///< c = s a
  add,      ///< c = a + b
  triad,    ///< c = a + s b
  nstream,  ///< c = c + a + s b
  axpy,     ///< c = c + s a
  dot,      ///< sum of a b
  norm      ///< sum of a a
};

inline char const* name(VectorOperation op) {
  char const* const names[] = {"copy", "scale", "add", "triad", "nstream", "axpy", "dot", "norm"};
  return names[int(op)];
}

/// Returns visit(std::integral_constant<VectorOperation, op>()).
template <class Visit>
auto with_operation(VectorOperation op, Visit visit) {
  using enum VectorOperation;
  switch (op) {
    case copy: return visit(std::integral_constant<VectorOperation, copy>());
    case scale: return visit(std::integral_constant<VectorOperation, scale>());
    case add: return visit(std::integral_constant<VectorOperation, add>());
    case triad: return visit(std::integral_constant<VectorOperation, triad>());
    case nstream: return visit(std::integral_constant<VectorOperation, nstream>());
    case axpy: return visit(std::integral_constant<VectorOperation, axpy>());
    case dot: return visit(std::integral_constant<VectorOperation, dot>());
    case norm: break;
  }
  return visit(std::integral_constant<VectorOperation, norm>());
}

constexpr bool is_sum(VectorOperation op) { return op >= VectorOperation::dot; }
constexpr bool reads_b(VectorOperation op) {
  return op == VectorOperation::add || op == VectorOperation::triad ||
         op == VectorOperation::nstream || op == VectorOperation::dot;
}
constexpr bool reads_c(VectorOperation op) {
  return op == VectorOperation::nstream || op == VectorOperation::axpy;
}
// Device code can read constants, but not call functions of the host.
template <VectorOperation Op>
inline constexpr bool loads_b = reads_b(Op);
template <VectorOperation Op>
inline constexpr bool loads_c = reads_c(Op);

/// An operation on one element, for both sides.
template <VectorOperation Op, class T>
KOKKOS_HOST_SPACES_PERF_FUNCTION T value_of(T a, T b, T c) {
  T const s = T(scale_factor);
  if constexpr (Op == VectorOperation::copy) return a;
  if constexpr (Op == VectorOperation::scale) return s * a;
  if constexpr (Op == VectorOperation::add) return a + b;
  if constexpr (Op == VectorOperation::triad) return a + s * b;
  if constexpr (Op == VectorOperation::nstream) return c + a + s * b;
  if constexpr (Op == VectorOperation::axpy) return c + s * a;
  if constexpr (Op == VectorOperation::dot) return a * b;
  return a * a;
}

/// The same as a function object: of those of c, a and b that it reads, in this order.
template <VectorOperation Op, class T>
struct ElementOperation {
  KOKKOS_HOST_SPACES_PERF_FUNCTION T operator()(T a) const { return value_of<Op, T>(a, T(), T()); }
  KOKKOS_HOST_SPACES_PERF_FUNCTION T operator()(T first, T second) const {
    return loads_c<Op> ? value_of<Op, T>(second, T(), first) : value_of<Op, T>(first, second, T());
  }
  KOKKOS_HOST_SPACES_PERF_FUNCTION T operator()(T c, T a, T b) const {
    return value_of<Op, T>(a, b, c);
  }
};

/// Number of arrays that a run reads and writes.
constexpr int arrays_moved(VectorOperation op) {
  return 1 + reads_b(op) + reads_c(op) + !is_sum(op);
}

/// The arrays of one run.
template <class T>
struct VectorArguments {
  T *a, *b, *c;
  T* sum;  ///< one number, on the device if there is one
};

/// Runs of an operation by a plain program, each on its own arrays. Variants: block sizes, scalar and
/// vectorised loads.
class VectorBaseline : public Baseline {
 public:
  virtual void enqueue() = 0;
};

/// The variants that compete.
enum class Rivals {
  all,
  repeatable,  ///< sums that are bitwise the same in every run, except those of CUB
  cub          ///< CUB, the library of the CUDA toolkit
};

/// \param rivals other than `all` only for sums on a device
template <class T>
std::unique_ptr<VectorBaseline> make_vector_baseline(VectorOperation op,
                                                     std::vector<VectorArguments<T>> runs,
                                                     std::size_t elements, Rivals rivals,
                                                     Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
