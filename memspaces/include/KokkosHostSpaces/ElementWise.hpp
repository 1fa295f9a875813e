// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Element-wise kernels over Views of rank 1, by packs of 16 bytes where a GPU gains by them.
//
//   khs::element_wise("triad", instance, c,
//                     KOKKOS_LAMBDA(double a, double b) { return a + 3 * b; }, a, b);

#ifndef KOKKOS_HOST_SPACES_ELEMENT_WISE_HPP
#define KOKKOS_HOST_SPACES_ELEMENT_WISE_HPP

#include <KokkosHostSpaces/impl/vector/MapKernel.hpp>
#include <KokkosHostSpaces/impl/vector/Packs.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// \cond
namespace Impl {

/// Reports arguments in another order, for each call of other types.
template <bool IsRight, class... What>
struct ElementWiseOrder : std::true_type {
  static_assert(IsRight,
                "element_wise takes, in this order: a label, an instance, the "
                "View of the results, the operation, and the Views of its arguments");
};

struct ElementWiseFunction {
  template <class ExecutionSpace, class Out, class Op, class... In>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void operator()(std::string const& label, ExecutionSpace const& instance, Out const& out,
                  Op const& op, In const&... in) const {
    constexpr bool in_order =
        Kokkos::is_view_v<Out> && !Kokkos::is_view_v<Op> && (Kokkos::is_view_v<In> && ...);
    static_assert(ElementWiseOrder<in_order, Out, Op, In...>::value);
    static_assert(!Out::memory_traits::is_atomic,
                  "element_wise stores packs of elements, which is not atomic: pass a View without "
                  "Kokkos::Atomic");
    check_access<ExecutionSpace, Out, In...>();
    check_element_wise("element_wise", out, in...);
    check_overlaps("element_wise", out, in...);
    using Value     = typename Out::non_const_value_type;
    constexpr int N = pack_length<Value, typename In::non_const_value_type...>;
    using Map       = PackMap<N, Op, Value, typename In::non_const_value_type...>;
    Map const map(out.data(), InputsOf<typename In::non_const_value_type...>(in.data()...), op);
    if constexpr (takes_own_kernel<ExecutionSpace, sizeof(Map)>) {
      constexpr bool on_host = is_on_host<Out> || (is_on_host<In> || ...);
      ToldKernel const told(ToldKernel::Kind::loop, label, instance);
      MapShape const shape = shape_of_map(out.extent(0), on_host);
      PackSplit const split =
          split_into_packs<N>(out.extent(0), shape.packs, out.data(), in.data()...);
      enqueue_items<on_host>(instance, map, split, shape);
    } else
      Kokkos::parallel_for(label, range_of(instance, std::int64_t(out.extent(0))), map);
  }
  template <class... What>
  requires(!BeginsWithLabel<What...>) void operator()(What const&...) const {
    static_assert(ElementWiseOrder<never_v<What...>, What...>::value);
  }
};

}  // namespace Impl
/// \endcond

/// `element_wise(label, instance, out, op, in...)`: out(i) = op(in(i)...) for all i. Asynchronous on an
/// instance of a device; may be captured. Kokkos Tools see a parallel_for.
///
/// The Views have rank 1, equal extents and contiguous elements; `out` may also be an input, but not
/// overlap a part of one. Views that do not begin at a multiple of 16 bytes are read one element at a
/// time. The Views must live until the kernel is done, or a graph that captured it is destroyed. `op`
/// is callable on the device with one element of each input; its result is converted to an element
/// of `out`, whose type has a default constructor.
/// \throw Error if the extents differ, elements are not contiguous, or `out` and an input share a
/// part of their memory
/// \throw DeviceError if the kernel cannot be launched
inline constexpr Impl::ElementWiseFunction element_wise{};

}  // namespace KokkosHostSpaces

#endif
