// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Included by one source a space, since each takes long to compile.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_KOKKOS_VECTOR_IMPL_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_KOKKOS_VECTOR_IMPL_HPP

#include "Functors.hpp"
#include "KokkosVector.hpp"

#include <KokkosHostSpaces/ElementSum.hpp>
#include <KokkosHostSpaces/ElementWise.hpp>
#include <KokkosHostSpaces/ParallelFor.hpp>
#include <KokkosHostSpaces/ParallelReduce.hpp>

#include <functional>

namespace KokkosHostSpaces::Perf {

template <class Op, class T, int inputs>
struct TermOfSum {
  T const* in[inputs];
  KOKKOS_FUNCTION void operator()(std::int64_t i, T& sum) const {
    if constexpr (inputs == 1) sum += Op()(in[0][i]);
    if constexpr (inputs == 2) sum += Op()(in[0][i], in[1][i]);
  }
};

template <class Space, class T>
class VectorKernels {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using In        = Kokkos::View<T const*, Space, Unmanaged>;
  using Out       = Kokkos::View<T*, Space, Unmanaged>;
  using Number    = Kokkos::View<T, Execution::memory_space, Unmanaged>;
  using Index     = Kokkos::IndexType<std::int64_t>;
  using Range     = Kokkos::RangePolicy<Execution, Index>;

  // Kernels over the link gain nothing by the way they are launched.
  static constexpr bool on_device = std::is_same_v<Space, Execution::memory_space>;

 public:
  VectorKernels(VectorOperation op, std::vector<VectorArguments<T>> const& runs,
                std::size_t elements, Launch launch, Execution const& instance)
      : m_instance(instance), m_elements(elements), m_launch(launch) {
    for (VectorArguments<T> const& run : runs) add(op, run);
  }

  void enqueue() {
    for (auto const& kernel : m_kernels) kernel();
#ifndef KOKKOS_ENABLE_CUDA
    m_instance.fence();  // the baseline's loops return when done
#endif
  }

 private:
  void add(VectorOperation op, VectorArguments<T> const& run) {
    In const a(run.a, m_elements), b(run.b, m_elements), c_in(run.c, m_elements);
    Out const c(run.c, m_elements);
    Number const sum(run.sum);
    switch (op) {
      case VectorOperation::copy: return add_map("copy", c, Same<T>(), a);
      case VectorOperation::scale: return add_map("scale", c, Scaled<T>(), a);
      case VectorOperation::add: return add_map("add", c, Sum<T>(), a, b);
      case VectorOperation::triad: return add_map("triad", c, Triad<T>(), a, b);
      case VectorOperation::nstream: return add_map("nstream", c, Nstream<T>(), c_in, a, b);
      case VectorOperation::axpy: return add_map("axpy", c, Axpy<T>(), c_in, a);
      case VectorOperation::dot: return add_sum("dot", sum, Product<T>(), a, b);
      case VectorOperation::norm: return add_sum("norm", sum, Square<T>(), a);
    }
  }

  template <class Op, class... Views>
  void add_map(char const* label, Out const& c, Op op, Views const&... in) {
    if (m_launch == Launch::element_wise) {
      m_kernels.push_back([=, this] { element_wise(label, m_instance, c, op, in...); });
    } else if constexpr (on_device) {
      MapBody<Op, T, int(sizeof...(in))> const body{c.data(), {in.data()...}};
      if (m_launch == Launch::khs_parallel)
        m_kernels.push_back(
            [=, this] { parallel_for(label, m_instance, std::int64_t(m_elements), body); });
      else
        m_kernels.push_back([=, this] {
          Kokkos::parallel_for(label, Range(m_instance, 0, std::int64_t(m_elements)), body);
        });
    }
  }

  template <class Op, class... Views>
  void add_sum(char const* label, Number const& sum, Op op, Views const&... in) {
    if (m_launch == Launch::element_wise) {
      m_kernels.push_back([=, this] { element_sum(label, m_instance, sum, op, in...); });
    } else if constexpr (on_device) {
      TermOfSum<Op, T, int(sizeof...(in))> const term{{in.data()...}};
      if (m_launch == Launch::khs_parallel)
        m_kernels.push_back(
            [=, this] { parallel_reduce(label, m_instance, std::int64_t(m_elements), term, sum); });
      else
        m_kernels.push_back([=, this] {
          Kokkos::parallel_reduce(label, Range(m_instance, 0, std::int64_t(m_elements)), term, sum);
        });
    }
  }

  Execution m_instance;
  std::size_t m_elements;
  Launch m_launch;
  std::vector<std::function<void()>> m_kernels;
};

template <class Space, class T>
std::function<void()> KokkosVector<Space, T>::make(VectorOperation op, Runs const& runs,
                                                   std::size_t elements, Launch launch,
                                                   Execution const& instance) {
  auto const kernels =
      std::make_shared<VectorKernels<Space, T>>(op, runs, elements, launch, instance);
  return [kernels] { kernels->enqueue(); };
}

}  // namespace KokkosHostSpaces::Perf

#endif
