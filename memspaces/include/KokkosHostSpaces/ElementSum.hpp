// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Sums over vectors at the speed of the best plain CUDA, in the manner of ElementWise:
//
//   khs::element_sum("dot", instance, result, KOKKOS_LAMBDA(double a, double b) { return a * b; },
//   a, b);

#ifndef KOKKOS_HOST_SPACES_ELEMENT_SUM_HPP
#define KOKKOS_HOST_SPACES_ELEMENT_SUM_HPP

#include <KokkosHostSpaces/impl/Packs.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstdint>
#include <string>

namespace KokkosHostSpaces {

/// result() += op(in_0(i), in_1(i), ...) for all i: the functor of a parallel_for over
/// policy(instance), on a device. Sums in the type of the result: in packs, then in warps, then in
/// teams, of which each adds its part atomically; so the last bits depend on the order of the
/// teams. \tparam Op callable on the device with one element of each input
template <class Op, class Result, class First, class... In>
class ElementSum {
  using Value = typename Result::non_const_value_type;
  static constexpr int N =
      Impl::pack_length<typename First::non_const_value_type, typename In::non_const_value_type...>;
  static constexpr int lanes = 32;
  static constexpr int warps = Impl::team_size / lanes;

 public:
  /// \throw std::runtime_error if the extents differ
  ElementSum(Result const& result, Op const& op, First const& first, In const&... in)
      : m_result(result), m_op(op), m_in(first, in...), m_elements(std::int64_t(first.extent(0))) {
    static_assert(Result::rank() == 0, "the result of a sum is a View of rank 0");
    Impl::check_element_wise("ElementSum", first, in...);
    m_deal = Impl::deal<N>(m_elements, first, in...);
  }

  /// As many teams as find work, at most half of what the device can hold at once: more would only
  /// make more parts to add.
  template <class ExecutionSpace>
  auto policy(ExecutionSpace const& instance) const {
    Impl::check_access<ExecutionSpace, Result, First, In...>();
    std::int64_t const most  = instance.concurrency() / Impl::team_size / 2;
    std::int64_t const teams = (m_deal.items + Impl::team_size - 1) / Impl::team_size;
    Kokkos::TeamPolicy<ExecutionSpace> policy(instance, int(std::min(teams, most)), warps, lanes);
    return policy.set_scratch_size(0, Kokkos::PerTeam(int(warps * sizeof(Value))));
  }

  /// The part of one team, added to the result.
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const begin =
        (std::int64_t(team.league_rank()) * warps + team.team_rank()) * lanes;
    std::int64_t const stride = std::int64_t(team.league_size()) * Impl::team_size;
    Value sum(0);
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes),
        [&](int lane, Value& part) { part += sum_of_items(begin + lane, stride); }, sum);

    auto* const sums =
        static_cast<Value*>(team.team_scratch(0).get_shmem(int(warps * sizeof(Value))));
    Kokkos::single(Kokkos::PerThread(team), [&] { sums[team.team_rank()] = sum; });
    team.team_barrier();
    if (team.team_rank() != 0) return;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, warps), [&](int warp, Value& part) { part += sums[warp]; },
        sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { Kokkos::atomic_add(m_result.data(), sum); });
  }

 private:
  KOKKOS_FUNCTION Value sum_of_pack(std::int64_t item) const {
    return m_in.pass_to([&](auto const&... in) {
      auto const terms = Impl::apply_to_packs<Value, N>(m_op, Impl::pack_of<N>(in, item)...);
      Value sum        = terms.values[0];
      for (int k = 1; k < N; ++k) sum += terms.values[k];
      return sum;
    });
  }

  // Two packs at a time, so that their loads overlap.
  KOKKOS_FUNCTION Value sum_of_items(std::int64_t item, std::int64_t stride) const {
    Value sum(0);
    for (; item + stride < m_deal.packs; item += 2 * stride) {
      Value const first = sum_of_pack(item), second = sum_of_pack(item + stride);
      sum += first + second;
    }
    for (; item < m_deal.packs; item += stride) sum += sum_of_pack(item);
    for (; item < m_deal.items; item += stride)
      sum += m_in.pass_to(
          [&](auto const&... in) { return Value(m_op(in(m_deal.packs * (N - 1) + item)...)); });
    return sum;
  }

  Result m_result;
  Op m_op;
  Impl::InputsOf<First, In...> m_in;
  std::int64_t m_elements;
  Impl::Deal m_deal;
};

/// Enqueues result() = sum of op(in(i)...) over all i on `instance`; returns at once if that is a
/// device's. `result` has rank 0 and is accessible to `instance`.
/// \throw std::runtime_error if the extents differ
template <class ExecutionSpace, class Result, class Op, class First, class... In>
void element_sum(std::string const& label, ExecutionSpace const& instance, Result const& result,
                 Op const& op, First const& first, In const&... in) {
  using Value = typename Result::non_const_value_type;
  if constexpr (Impl::uses_packs<ExecutionSpace>) {
    ElementSum const kernel(result, op, first, in...);
    Kokkos::deep_copy(instance, result, Value(0));
    if (first.extent(0) > 0) Kokkos::parallel_for(label, kernel.policy(instance), kernel);
  } else {
    Impl::check_access<ExecutionSpace, Result, First, In...>();
    Impl::check_element_wise("element_sum", first, in...);
    Impl::InputsOf<First, In...> const inputs(first, in...);
    Kokkos::parallel_reduce(
        label,
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            instance, 0, std::int64_t(first.extent(0))),
        [=](std::int64_t i, Value& sum) {
          sum += inputs.pass_to([&](auto const&... in_) { return Value(op(in_(i)...)); });
        },
        result);
  }
}

}  // namespace KokkosHostSpaces

#endif
