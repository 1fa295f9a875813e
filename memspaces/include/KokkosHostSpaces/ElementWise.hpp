// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Vector kernels at the speed of the best plain CUDA: by a VectorPolicy, with packs of 16 bytes
// where these suit the memory system of a GPU.
//
//   khs::element_wise("triad", instance, c,
//                     KOKKOS_LAMBDA(double a, double b) { return a + 3 * b; }, a, b);
//
// The same in two steps, for a node of a Kokkos::Experimental::Graph, which is the fastest way to
// launch many small kernels:
//
//   khs::ElementWise triad(c, KOKKOS_LAMBDA(double a, double b) { return a + 3 * b; }, a, b);
//   node.then_parallel_for("triad", triad.policy(Kokkos::DefaultExecutionSpace()), triad);
//
// It runs where the graph is submitted; Kokkos 5.2 ends a program that names another instance here.

#ifndef KOKKOS_HOST_SPACES_ELEMENT_WISE_HPP
#define KOKKOS_HOST_SPACES_ELEMENT_WISE_HPP

#include <KokkosHostSpaces/VectorPolicy.hpp>
#include <KokkosHostSpaces/impl/vector/PackMap.hpp>
#include <KokkosHostSpaces/impl/vector/Packs.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>

namespace KokkosHostSpaces {

/// out(i) = op(in_0(i), in_1(i), ...) for all i: the functor of a parallel_for over
/// policy(instance). The Views have rank 1, equal extents and contiguous elements; `out` may also
/// be an input. Views that do not begin at a multiple of 16 bytes work, one element at a time. Does
/// not keep the Views alive: they must be until the kernel is done, or its graph is gone.
/// \tparam Op callable on the device with one element of each input; its result is converted to an
/// element of `out`, whose type has a default constructor
template <class Op, class Out, class... In>
class ElementWise {
  using Value            = typename Out::non_const_value_type;
  using Inputs           = Impl::InputsOf<typename In::non_const_value_type...>;
  static constexpr int N = Impl::pack_length<Value, typename In::non_const_value_type...>;

  static constexpr bool on_host = Impl::is_on_host<Out> || (Impl::is_on_host<In> || ...);
  static constexpr std::size_t bytes_of_element =
      (sizeof(Value) + ... + sizeof(typename In::non_const_value_type));

 public:
  /// \throw Error if the extents differ
  ElementWise(Out const& out, Op const& op, In const&... in)
      : m_map(out.data(), Inputs(in.data()...), op) {
    Impl::check_element_wise("ElementWise", out, in...);
    bool const packs = shape(out.extent(0)).packs;
    m_deal           = Impl::deal<N>(out.extent(0), packs, out.data(), in.data()...);
  }

  /// What to launch this functor with on `instance`.
  template <class ExecutionSpace>
  auto policy(ExecutionSpace const& instance) const {
    Impl::check_access<ExecutionSpace, Out, In...>();
    if constexpr (Impl::uses_packs<ExecutionSpace>) {
      VectorPolicy<ExecutionSpace, Impl::ByItem, Kokkos::IndexType<std::uint64_t>,
                   Kokkos::LaunchBounds<on_host ? 1024 : Impl::threads_of_map>>
          result(instance, std::uint64_t(0), std::max(m_deal.packs, m_deal.rest));
      result.set_block_size(shape(m_deal.elements(N)).threads);
      return result;
    } else {
      return VectorPolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          instance, 0, std::int64_t(m_deal.elements(N)));
    }
  }

  /// Of each block, 0 if that depends on the size: of a number that it knows the kernel need not be
  /// told, which saves it a wait.
  static constexpr unsigned threads_of_block = on_host ? 0 : Impl::threads_of_map;

  /// What a launch on a device does: `count` items from `first` on.
  auto part(std::uint64_t first, std::uint32_t count) const {
    return m_map.part(m_deal, first, count);
  }

  /// One item: a pack, one of the elements behind the packs, or both.
  KOKKOS_FUNCTION void operator()(Impl::ByItem, std::uint64_t item) const {
    if (item < m_deal.packs) m_map.do_pack(item);
    if (item < m_deal.rest) m_map.do_element(m_deal.packs * N + item);
  }

  /// One element.
  KOKKOS_FUNCTION void operator()(std::integral auto i) const { m_map.do_element(i); }

 private:
  static constexpr Impl::MapShape shape(std::uint64_t elements) {
    return Impl::shape_of_map(elements, bytes_of_element, on_host);
  }

  Impl::PackMap<N, Op, Value, typename In::non_const_value_type...> m_map;
  Impl::PackSplit m_deal;
};

/// Enqueues out(i) = op(in(i)...) for all i on `instance`; returns at once if that is a device's.
/// \throw Error if the extents differ
template <class ExecutionSpace, class Out, class Op, class... In>
void element_wise(std::string const& label, ExecutionSpace const& instance, Out const& out,
                  Op const& op, In const&... in) {
  ElementWise const kernel(out, op, in...);
  Kokkos::parallel_for(label, kernel.policy(instance), kernel);
}

}  // namespace KokkosHostSpaces

#endif
