// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Sums over vectors, large ones at the speed of the best plain CUDA, in the manner of ElementWise:
//
//   khs::element_sum("dot", instance, result,
//                    KOKKOS_LAMBDA(double a, double b) { return a * b; }, a, b);

#ifndef KOKKOS_HOST_SPACES_ELEMENT_SUM_HPP
#define KOKKOS_HOST_SPACES_ELEMENT_SUM_HPP

#include <KokkosHostSpaces/impl/Packs.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

namespace KokkosHostSpaces {

/// result() += op(in_0(i), in_1(i), ...) for all i: the functor of a parallel_for over
/// policy(instance). Sums in the type of the result: in packs, then in teams, of which
/// each adds its part atomically; so the last bits depend on the order of the teams. Does not keep
/// the Views alive.
/// \tparam Op callable on the device with one element of each input
template <class Op, class Result, class First, class... In>
class ElementSum {
  using Value = typename Result::non_const_value_type;
  static constexpr int N =
      Impl::pack_length<typename First::non_const_value_type, typename In::non_const_value_type...>;

 public:
  /// \throw Error if the extents differ, or 32 bits cannot count the packs
  ElementSum(Result const& result, Op const& op, First const& first, In const&... in)
      : m_result(result.data()), m_op(op), m_in(first.data(), in.data()...) {
    static_assert(Result::rank() == 0, "the result of a sum is a View of rank 0");
    Impl::check_element_wise("ElementSum", first, in...);
    m_deal = Impl::deal<N>("ElementSum", first.extent(0), first.data(), in.data()...);
  }

  /// Lets this functor set result() instead of adding to it, if the arrays are so small that one
  /// team is quicker than several which need a zero to begin with. \return whether it does
  bool set_if_small() { return m_sets = m_deal.items <= 8 * Impl::team_size; }

  /// As many teams as find work, at most half of what the device can hold at once: more would only
  /// make more parts to add. Teams of one thread on the host.
  template <class ExecutionSpace>
  auto policy(ExecutionSpace const& instance) const {
    Impl::check_access<ExecutionSpace, Result, First, In...>();
    static_assert(!Impl::uses_packs<ExecutionSpace> || sizeof(Value) < 4 || sizeof(Value) % 4 == 0,
                  "teams of a device add results of less than 4 bytes, or of a multiple of 4: "
                  "take a larger type for the result");
    constexpr unsigned size = threads_of_team<ExecutionSpace>;
    unsigned const at_once  = unsigned(instance.concurrency()) / size;
    unsigned const most     = size > 1 ? at_once / 2 : at_once;
    unsigned const teams    = m_sets ? 1 : (m_deal.items + size - 1) / size;
    return Kokkos::TeamPolicy<ExecutionSpace>(instance, int(std::min(teams, most)), int(size));
  }

  /// The part of one thread of a team.
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    constexpr unsigned size = threads_of_team<typename Team::execution_space>;
    unsigned const stride   = unsigned(team.league_size()) * size;
    unsigned item           = unsigned(team.league_rank()) * size + unsigned(team.team_rank());
    Value sum(0);
    for (; item + stride < m_deal.packs; item += 2 * stride) {  // so that the loads of two overlap
      Value const first = sum_of_pack(item), second = sum_of_pack(item + stride);
      sum += Value(first + second);
    }
    for (; item < m_deal.packs; item += stride) sum += sum_of_pack(item);
    for (; item < m_deal.items; item += stride)
      sum += m_in.pass_to([&](auto const*... in) {
        return Value(m_op(in[std::int64_t(m_deal.packs) * (N - 1) + item]...));
      });

    team.team_reduce(Kokkos::Sum<Value>(sum));
    if (team.team_rank() != 0) return;
    if (m_sets)
      *m_result = sum;
    else
      Kokkos::atomic_add(m_result, sum);
  }

 private:
  template <class ExecutionSpace>
  static constexpr unsigned threads_of_team = Impl::uses_packs<ExecutionSpace>
                                                  ? unsigned(Impl::team_size)
                                                  : 1U;

  KOKKOS_FUNCTION Value sum_of_pack(unsigned item) const {
    return m_in.pass_to([&](auto const*... in) {
      auto const terms = Impl::apply_to_packs<Value, N>(m_op, Impl::pack_of<N>(in, item)...);
      Value sum        = terms.values[0];
      for (int k = 1; k < N; ++k) sum += terms.values[k];
      return sum;
    });
  }

  Value* m_result;
  Op m_op;
  Impl::InputsOf<typename First::non_const_value_type, typename In::non_const_value_type...> m_in;
  Impl::Deal m_deal;
  bool m_sets = false;
};

/// Enqueues result() = sum of op(in(i)...) over all i on `instance`; returns at once if that is a
/// device's. `result` has rank 0 and is accessible to `instance`.
/// \throw Error if the extents differ
template <class ExecutionSpace, class Result, class Op, class First, class... In>
void element_sum(std::string const& label, ExecutionSpace const& instance, Result const& result,
                 Op const& op, First const& first, In const&... in) {
  using Value = typename Result::non_const_value_type;
  if constexpr (Impl::uses_packs<ExecutionSpace>) {
    ElementSum kernel(result, op, first, in...);
    if (!kernel.set_if_small()) Kokkos::deep_copy(instance, result, Value(0));
    Kokkos::parallel_for(label, kernel.policy(instance), kernel);
  } else {
    Impl::check_access<ExecutionSpace, Result, First, In...>();
    Impl::check_element_wise("element_sum", first, in...);
    Impl::InputsOf<typename First::non_const_value_type, typename In::non_const_value_type...> const
    inputs(first.data(), in.data()...);
    Kokkos::parallel_reduce(
        label,
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            instance, 0, std::int64_t(first.extent(0))),
        [=](std::int64_t i, Value& sum) {
          sum += inputs.pass_to([&](auto const*... at) { return Value(op(at[i]...)); });
        },
        result);
  }
}

}  // namespace KokkosHostSpaces

#endif
