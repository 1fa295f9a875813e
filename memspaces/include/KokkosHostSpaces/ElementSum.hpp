// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Sums over Views of rank 1: one kernel that reads packs of 16 bytes, and gives the same bits in every
// run.
//
//   khs::element_sum("dot", instance, result,
//                    KOKKOS_LAMBDA(double a, double b) { return a * b; }, a, b);

#ifndef KOKKOS_HOST_SPACES_ELEMENT_SUM_HPP
#define KOKKOS_HOST_SPACES_ELEMENT_SUM_HPP

#include <KokkosHostSpaces/impl/vector/Packs.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionKernel.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionResult.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces {

/// \cond
namespace Impl {

/// Sums op(in_0(i), in_1(i), ...) over all i, in the type of the result.
template <class Op, class First, class... In>
class PackSum {
  static constexpr int N =
      pack_length<typename First::non_const_value_type, typename In::non_const_value_type...>;

 public:
  /// \throw Error if the extents differ, or elements are not contiguous
  PackSum(Op const& op, First const& first, In const&... in)
      : m_in(first.data(), in.data()...), m_op(op) {
    check_element_wise("element_sum", first, in...);
    m_split = split_into_packs<N>(first.extent(0), true, first.data(), in.data()...);
  }

  /// Packs, and elements behind them.
  std::uint64_t items() const { return m_split.packs + m_split.rest; }

  /// Adds the items of one thread of a device.
  template <class Value>
  KOKKOS_FUNCTION void add_share(GridStride const& share, Value& sum) const {
    std::uint64_t const packs = m_split.packs, all = packs + m_split.rest;
    std::uint64_t item = share.first;
    for (; item + share.stride < packs; item += 2 * share.stride) {  // their loads overlap
      Value const first = sum_of_pack<Value>(item);
      sum += Value(first + sum_of_pack<Value>(item + share.stride));
    }
    if (item < packs) {
      sum += sum_of_pack<Value>(item);
      item += share.stride;
    }
    for (; item < all; item += share.stride) (*this)(packs * (N - 1) + item, sum);
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
      auto const terms = apply_to_packs<Value, N>(m_op, pack_of<N>(in, item)...);
      Value sum        = terms.values[0];
      for (int k = 1; k < N; ++k) sum += terms.values[k];
      return sum;
    });
  }

  // Parameters that each thread needs come first, see VectorReduction.
  InputsOf<typename First::non_const_value_type, typename In::non_const_value_type...> m_in;
  PackSplit m_split;
  Op m_op;
};

/// Reports arguments in another order, for each call of other types.
template <bool IsRight, class... What>
struct ElementSumOrder : std::true_type {
  static_assert(IsRight,
                "element_sum takes, in this order: a label, an instance, the "
                "result, the operation, and the Views of its arguments");
};

struct ElementSumFunction {
  template <class ExecutionSpace, class Result, class Op, class First, class... In>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void operator()(std::string const& label, ExecutionSpace const& instance, Result&& result,
                  Op const& op, First const& first, In const&... in) const {
    using Sum               = std::remove_reference_t<Result>;
    constexpr bool in_order = !Kokkos::is_view_v<Op> && !std::is_arithmetic_v<Op> &&
                              Kokkos::is_view_v<First> && (Kokkos::is_view_v<In> && ...);
    static_assert(ElementSumOrder<in_order, Result, Op, First, In...>::value);
    using To = ResultOf<std::remove_cv_t<Sum>>;
    static_assert(To::rank == 0 && !Kokkos::is_reducer_v<Sum> &&
                      (Kokkos::is_view_v<Sum> ||
                       (std::is_lvalue_reference_v<Result> && !std::is_const_v<Sum>)),
                  "the result of a sum is a View of rank 0, or a variable");
    check_access<ExecutionSpace, First, In...>();
    if constexpr (Kokkos::is_view_v<Sum>) check_access<ExecutionSpace, std::remove_const_t<Sum>>();
    PackSum const sum(op, first, in...);
    if constexpr (is_reduced_in_registers<ExecutionSpace, PackSum<Op, First, In...>,
                                          std::remove_cv_t<Sum>>) {
      reduce<typename To::Space, 1024, std::int64_t>(label, instance, sum.items(), sum,
                                                     To::reducer(result), To::data(result));
    } else
      Kokkos::parallel_reduce(label, range_of(instance, std::int64_t(first.extent(0))), sum,
                              result);
  }
  template <class... What>
  requires(!BeginsWithLabel<What...>) void operator()(What const&...) const {
    static_assert(ElementSumOrder<never_v<What...>, What...>::value);
  }
};

}  // namespace Impl
/// \endcond

/// `element_sum(label, instance, result, op, in...)`: the sum of op(in(i)...) over all i, in the type of
/// the result. If `result` is a View of rank 0, which is accessible to `instance`, the sum is
/// asynchronous on an instance of a device, and may be captured. If it is a variable, such as a
/// `double`, the call blocks until it has the sum. Kokkos Tools see a parallel_reduce.
///
/// The Views have rank 1, equal extents and contiguous elements. On CUDA the order of the terms,
/// and with it the last bits, depends only on the number of elements, their types and whether the
/// Views begin at multiples of 16 bytes. The Views must live until the kernel is done, or a graph that
/// captured it is destroyed. `op` is callable on the device with one element of each input.
/// \throw Error if the extents differ, elements are not contiguous, or the device has no memory left for
/// the parts of blocks
/// \throw OutOfPinnedMemory, DeviceError
inline constexpr Impl::ElementSumFunction element_sum{};

}  // namespace KokkosHostSpaces

#endif
