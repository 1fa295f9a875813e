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
    with_operation(op, [&](auto constant) {
      constexpr VectorOperation known = decltype(constant)::value;
      ElementOperation<known, T> const element;
      auto const add_on = [&](auto const&... in) {
        if constexpr (is_sum(known))
          add_sum(name(known), sum, element, in...);
        else
          add_map(name(known), c, element, in...);
      };
      if constexpr (reads_c(known) && reads_b(known))
        add_on(c_in, a, b);
      else if constexpr (reads_c(known))
        add_on(c_in, a);
      else if constexpr (reads_b(known))
        add_on(a, b);
      else
        add_on(a);
    });
  }

  template <class Op, class... Views>
  void add_map(char const* label, Out const& c, Op op, Views const&... in) {
    if (m_launch == Launch::element_wise) {
      m_kernels.push_back([=, this] { element_wise(label, m_instance, c, op, in...); });
    } else if constexpr (on_device) {
      MapBody<Op, T, int(sizeof...(in))> const body{c.data(), {{in.data()...}}};
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
      TermOfSum<Op, T, int(sizeof...(in))> const term{{{in.data()...}}};
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
