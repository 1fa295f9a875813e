// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "VectorBaseline.hpp"

#include "../../plain/LoopsHost.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

template <class T, class Term>
T sum_over(std::size_t n, Term term) {
  T sum = 0;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) reduction(+ : sum)
#endif
  for (std::size_t i = 0; i < n; ++i) sum += term(i);
  return sum;
}

template <class T>
class HostVectorBaseline final : public VectorBaseline {
 public:
  HostVectorBaseline(VectorOperation op, std::vector<VectorArguments<T>> runs, std::size_t elements)
      : m_op(op), m_runs(std::move(runs)), m_elements(elements) {}

  std::vector<std::string> variants() const override { return {"a loop"}; }

  void enqueue() override {
    for (VectorArguments<T> const& run : m_runs) carry_out(run);
  }

 private:
  void carry_out(VectorArguments<T> const& v) {
    with_operation(m_op, [&](auto constant) {
      constexpr VectorOperation op = decltype(constant)::value;
      auto const value             = [v](std::size_t i) {
        return value_of<op, T>(v.a[i], loads_b<op> ? v.b[i] : T(), loads_c<op> ? v.c[i] : T());
      };
      if constexpr (is_sum(op))
        *v.sum = sum_over<T>(m_elements, value);
      else
        for_each_index(m_elements, [=](std::size_t i) { v.c[i] = value(i); });
    });
  }

  VectorOperation m_op;
  std::vector<VectorArguments<T>> m_runs;
  std::size_t m_elements;
};

}  // namespace

template <class T>
std::unique_ptr<VectorBaseline> make_vector_baseline(VectorOperation op,
                                                     std::vector<VectorArguments<T>> runs,
                                                     std::size_t elements, Rivals, Stream) {
  return std::make_unique<HostVectorBaseline<T>>(op, std::move(runs), elements);
}

template std::unique_ptr<VectorBaseline> make_vector_baseline<float>(
    VectorOperation, std::vector<VectorArguments<float>>, std::size_t, Rivals, Stream);
template std::unique_ptr<VectorBaseline> make_vector_baseline<double>(
    VectorOperation, std::vector<VectorArguments<double>>, std::size_t, Rivals, Stream);

}  // namespace KokkosHostSpaces::Perf
