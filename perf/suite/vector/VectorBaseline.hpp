// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <memory>
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

inline constexpr VectorOperation all_vector_operations[] = {
    VectorOperation::copy,    VectorOperation::scale, VectorOperation::add, VectorOperation::triad,
    VectorOperation::nstream, VectorOperation::axpy,  VectorOperation::dot, VectorOperation::norm};

constexpr bool is_sum(VectorOperation op) { return op >= VectorOperation::dot; }
constexpr bool reads_b(VectorOperation op) {
  return op == VectorOperation::add || op == VectorOperation::triad ||
         op == VectorOperation::nstream || op == VectorOperation::dot;
}
constexpr bool reads_c(VectorOperation op) {
  return op == VectorOperation::nstream || op == VectorOperation::axpy;
}
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
