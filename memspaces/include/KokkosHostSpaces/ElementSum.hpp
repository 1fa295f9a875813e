// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Sums over Views of rank 1: one kernel that reads packs of 16 bytes, and gives the same bits in every
// run.
//
//   khs::element_sum("dot", instance, result,
//                    KOKKOS_LAMBDA(double a, double b) { return a * b; }, a, b);
//
//   khs::ElementSum dot(KOKKOS_LAMBDA(double a, double b) { return a * b; }, a, b);
//   node.then_parallel_reduce("dot", dot.policy(Kokkos::DefaultExecutionSpace()), dot, result);

#ifndef KOKKOS_HOST_SPACES_ELEMENT_SUM_HPP
#define KOKKOS_HOST_SPACES_ELEMENT_SUM_HPP

#include <KokkosHostSpaces/VectorPolicy.hpp>
#include <KokkosHostSpaces/impl/vector/Packs.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionKernel.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces {

/// The functor of a parallel_reduce over policy(instance) that sums op(in_0(i), in_1(i), ...) over all
/// i, in the type of the result. The Views have rank 1, equal extents and contiguous elements. On a
/// device the order of the terms, and with it the last bits, depends only on the number of elements,
/// their types and whether the Views begin at multiples of 16 bytes. Does not keep the Views alive:
/// they must live until the kernel is done, or its graph is destroyed.
/// \tparam Op callable on the device with one element of each input
template <class Op, class First, class... In>
class ElementSum {
  static constexpr int N =
      Impl::pack_length<typename First::non_const_value_type, typename In::non_const_value_type...>;

 public:
  /// \throw Error if the extents differ, or elements are not contiguous
  ElementSum(Op const& op, First const& first, In const&... in)
      : m_in(first.data(), in.data()...), m_op(op) {
    Impl::check_element_wise("ElementSum", first, in...);
    m_split = Impl::split_into_packs<N>(first.extent(0), true, first.data(), in.data()...);
  }

  /// The policy to launch this functor with on `instance`.
  template <class ExecutionSpace>
  auto policy(ExecutionSpace const& instance) const {
    Impl::check_access<ExecutionSpace, First, In...>();
    using Index = Kokkos::IndexType<std::int64_t>;
    if constexpr (Impl::uses_packs<ExecutionSpace>)
      return VectorPolicy<ExecutionSpace, Impl::ByItem, Index, Kokkos::LaunchBounds<1024>>(
          instance, 0, std::int64_t(m_split.packs + m_split.rest));
    else
      return VectorPolicy<ExecutionSpace, Index, Kokkos::LaunchBounds<1024>>(
          instance, 0, std::int64_t(m_split.elements(N)));
  }

  /// Prefetches the pack of a thread that has only one; with several it gains nothing.
  KOKKOS_FUNCTION void prefetch_share(Impl::GridStride const& share) const
      requires(Impl::is_on_device<First> && (Impl::is_on_device<In> && ...)) {
    if (share.first < m_split.packs && m_split.packs <= share.stride)
      m_in.pass_to(
          [&](auto const*... in) { (Impl::prefetch(&Impl::pack_of<N>(in, share.first)), ...); });
  }

  /// Adds the items of one thread of a device.
  template <class Value>
  KOKKOS_FUNCTION void add_share(Impl::GridStride const& share, Value& sum) const {
    std::uint64_t const packs = m_split.packs, items = packs + m_split.rest;
    std::uint64_t item = share.first;
    for (; item + share.stride < packs; item += 2 * share.stride) {  // their loads overlap
      Value const first = sum_of_pack<Value>(item);
      sum += Value(first + sum_of_pack<Value>(item + share.stride));
    }
    if (item < packs) {
      sum += sum_of_pack<Value>(item);
      item += share.stride;
    }
    for (; item < items; item += share.stride) (*this)(packs * (N - 1) + item, sum);
  }

  /// Adds one item, a pack or an element behind the packs, where Kokkos' own kernel reduces.
  template <class Value>
  KOKKOS_FUNCTION void operator()(Impl::ByItem, std::int64_t i, Value& sum) const {
    std::uint64_t const item = std::uint64_t(i);
    if (item < m_split.packs)
      sum += sum_of_pack<Value>(item);
    else
      (*this)(m_split.packs * (N - 1) + item, sum);
  }

  /// Adds one element.
  template <class Value>
  KOKKOS_FUNCTION void operator()(std::integral auto i, Value& sum) const {
    sum += m_in.pass_to([&](auto const*... in) { return Value(m_op(in[i]...)); });
  }

 private:
  template <class Value>
  KOKKOS_FUNCTION Value sum_of_pack(std::uint64_t item) const {
    return m_in.pass_to([&](auto const*... in) {
      auto const terms = Impl::apply_to_packs<Value, N>(m_op, Impl::pack_of<N>(in, item)...);
      Value sum        = terms.values[0];
      for (int k = 1; k < N; ++k) sum += terms.values[k];
      return sum;
    });
  }

  // Parameters that each thread needs come first, see VectorReduction.
  Impl::InputsOf<typename First::non_const_value_type, typename In::non_const_value_type...> m_in;
  Impl::PackSplit m_split;
  Op m_op;
};

/// \cond
namespace Impl {

struct ElementSumFunction {
  template <class ExecutionSpace, class Result, class Op, class First, class... In>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void operator()(std::string const& label, ExecutionSpace const& instance, Result&& result,
                  Op const& op, First const& first, In const&... in) const {
    using Sum = std::remove_reference_t<Result>;
    static_assert(
        !Kokkos::is_view_v<Op> && Kokkos::is_view_v<First> && (Kokkos::is_view_v<In> && ...),
        "element_sum takes, in this order: a label (may be left out), an instance, the result, "
        "the operation, and the Views of its arguments");
    if constexpr (Kokkos::is_view_v<Sum>) {
      static_assert(Sum::rank() == 0, "the result of a sum is a View of rank 0, or a variable");
      check_access<ExecutionSpace, std::remove_const_t<Sum>>();
    } else {
      static_assert(std::is_lvalue_reference_v<Result> && !std::is_const_v<Sum>,
                    "the result of a sum is a View of rank 0, or a variable");
    }
    ElementSum const kernel(op, first, in...);
    Kokkos::parallel_reduce(label, kernel.policy(instance), kernel, result);
  }
  template <class ExecutionSpace, class Result, class Op, class First, class... In>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void operator()(ExecutionSpace const& instance, Result&& result, Op const& op, First const& first,
                  In const&... in) const {
    (*this)("KokkosHostSpaces::element_sum", instance, std::forward<Result>(result), op, first,
            in...);
  }
};

}  // namespace Impl
/// \endcond

/// `element_sum([label,] instance, result, op, in...)`: the sum of op(in(i)...) over all i. If `result` is
/// a View of rank 0 that is accessible to `instance`, the sum is asynchronous on an instance of a device.
/// If it is a variable, such as a `double`, the call blocks until it has the sum. Takes Views as
/// ElementSum does.
/// \throw Error as ElementSum does
inline constexpr Impl::ElementSumFunction element_sum{};

}  // namespace KokkosHostSpaces

#endif
