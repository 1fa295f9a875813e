// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Element-wise kernels over Views of rank 1: a VectorPolicy, and packs of 16 bytes where a GPU gains by
// them.
//
//   khs::element_wise("triad", instance, c,
//                     KOKKOS_LAMBDA(double a, double b) { return a + 3 * b; }, a, b);
//
// As a node of a Kokkos::Experimental::Graph, which launches many small kernels fastest:
//
//   khs::ElementWise triad(c, KOKKOS_LAMBDA(double a, double b) { return a + 3 * b; }, a, b);
//   node.then_parallel_for("triad", triad.policy(Kokkos::DefaultExecutionSpace()), triad);
//
// The node runs on the instance that the graph is submitted to. Kokkos 5.2 ends a program that names
// another instance than the default one here.

#ifndef KOKKOS_HOST_SPACES_ELEMENT_WISE_HPP
#define KOKKOS_HOST_SPACES_ELEMENT_WISE_HPP

#include <KokkosHostSpaces/VectorPolicy.hpp>
#include <KokkosHostSpaces/impl/vector/MapKernel.hpp>
#include <KokkosHostSpaces/impl/vector/Packs.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>

namespace KokkosHostSpaces {

/// The functor of a parallel_for over policy(instance) that does out(i) = op(in_0(i), in_1(i), ...) for
/// all i. The Views have rank 1, equal extents and contiguous elements; `out` may also be an input,
/// but not overlap a part of one. Views that do not begin at a multiple of 16 bytes are read one element
/// at a time. Does not keep the Views alive: they must live until the kernel is done, or its graph is
/// destroyed.
/// \tparam Op callable on the device with one element of each input; its result is converted to an
/// element of `out`, whose type has a default constructor
template <class Op, class Out, class... In>
class ElementWise {
  using Value            = typename Out::non_const_value_type;
  using Inputs           = Impl::InputsOf<typename In::non_const_value_type...>;
  static constexpr int N = Impl::pack_length<Value, typename In::non_const_value_type...>;

  static_assert(!Out::memory_traits::is_atomic,
                "element_wise stores packs of elements, which is not atomic: pass a View without "
                "Kokkos::Atomic");

  static constexpr bool on_host = Impl::is_on_host<Out> || (Impl::is_on_host<In> || ...);

 public:
  /// \throw Error if the extents differ, elements are not contiguous, or `out` and an input share a
  /// part of their memory
  ElementWise(Out const& out, Op const& op, In const&... in)
      : m_map(out.data(), Inputs(in.data()...), op) {
    Impl::check_element_wise("ElementWise", out, in...);
    Impl::check_overlaps("ElementWise", out, in...);
    bool const packs = Impl::shape_of_map(out.extent(0), on_host).packs;
    m_split          = Impl::split_into_packs<N>(out.extent(0), packs, out.data(), in.data()...);
  }

  /// The policy to launch this functor with on `instance`.
  template <class ExecutionSpace>
  auto policy(ExecutionSpace const& instance) const {
    Impl::check_access<ExecutionSpace, Out, In...>();
    if constexpr (Impl::uses_packs<ExecutionSpace>) {
      VectorPolicy<ExecutionSpace, Impl::ByItem, Kokkos::IndexType<std::uint64_t>,
                   Kokkos::LaunchBounds<on_host ? 1024 : Impl::threads_of_map>>
          result(instance, std::uint64_t(0), std::max(m_split.packs, m_split.rest));
      result.set_block_size(Impl::shape_of_map(m_split.elements(N), on_host).threads);
      return result;
    } else {
      return VectorPolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          instance, 0, std::int64_t(m_split.elements(N)));
    }
  }

  /// 0 if it depends on the extent. A constant saves the kernel the wait for a parameter.
  static constexpr unsigned threads_of_block = on_host ? 0 : Impl::threads_of_map;

  /// The functor of one launch on a device: `count` items from `first` on.
  auto part(std::uint64_t first, std::uint32_t count) const {
    return m_map.part(m_split, first, count);
  }

  /// Does one item: a pack, an element behind the packs, or both.
  KOKKOS_FUNCTION void operator()(Impl::ByItem, std::uint64_t item) const {
    if (item < m_split.packs) m_map.do_pack(item);
    if (item < m_split.rest) m_map.do_element(m_split.packs * N + item);
  }

  /// Does one element.
  KOKKOS_FUNCTION void operator()(std::integral auto i) const { m_map.do_element(i); }

 private:
  Impl::PackMap<N, Op, Value, typename In::non_const_value_type...> m_map;
  Impl::PackSplit m_split;
};

/// \cond
namespace Impl {

struct ElementWiseFunction {
  template <class ExecutionSpace, class Out, class Op, class... In>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void operator()(std::string const& label, ExecutionSpace const& instance, Out const& out,
                  Op const& op, In const&... in) const {
    static_assert(
        Kokkos::is_view_v<Out> && !Kokkos::is_view_v<Op> && (Kokkos::is_view_v<In> && ...),
        "element_wise takes, in this order: a label (may be left out), an instance, the View "
        "of the results, the operation, and the Views of its arguments");
    ElementWise const kernel(out, op, in...);
    Kokkos::parallel_for(label, kernel.policy(instance), kernel);
  }
  template <class ExecutionSpace, class Out, class Op, class... In>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void operator()(ExecutionSpace const& instance, Out const& out, Op const& op,
                  In const&... in) const {
    (*this)("KokkosHostSpaces::element_wise", instance, out, op, in...);
  }
};

}  // namespace Impl
/// \endcond

/// `element_wise([label,] instance, out, op, in...)`: out(i) = op(in(i)...) for all i. Asynchronous on an
/// instance of a device. Takes Views as ElementWise does.
/// \throw Error as ElementWise does
inline constexpr Impl::ElementWiseFunction element_wise{};

}  // namespace KokkosHostSpaces

#endif
