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

/// With s = scale_factor; the last two give a number, the others a vector.
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
/// Arrays read and written by one run.
constexpr int arrays_moved(VectorOperation op) {
  return 1 + reads_b(op) + reads_c(op) + !is_sum(op);
}

/// The arrays of one run.
template <class T>
struct VectorArguments {
  T *a, *b, *c;
  T* sum;  ///< one number; on the device if there is one
};

/// Runs of one operation, each on arrays of its own, as a plain program does them. Its variants:
/// block sizes, scalar and vectorised loads.
class VectorBaseline : public Baseline {
 public:
  virtual void enqueue() = 0;
};

/// Which of the baseline's variants compete.
enum class Rivals {
  all,
  repeatable,  ///< sums whose bits are those of every run, but for the library's
  cub          ///< the library that comes with the CUDA toolkit
};

/// \param as_graph launches the sequence as one CUDA graph
/// \param rivals other than all of sums on a device alone
template <class T>
std::unique_ptr<VectorBaseline> make_vector_baseline(VectorOperation op,
                                                     std::vector<VectorArguments<T>> runs,
                                                     std::size_t elements, bool as_graph,
                                                     Rivals rivals, Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
