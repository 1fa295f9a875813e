// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A parallel_reduce for short bodies: on a device one bare kernel, with the same bits in every run.
//
//   khs::parallel_reduce("dot", instance, n,
//                        KOKKOS_LAMBDA(int i, double& sum) { sum += x(i) * y(i); }, result);

#ifndef KOKKOS_HOST_SPACES_PARALLEL_REDUCE_HPP
#define KOKKOS_HOST_SPACES_PARALLEL_REDUCE_HPP

#include <KokkosHostSpaces/impl/vector/ReductionKernel.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionResult.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// \cond
namespace Impl {

struct ParallelReduceFunction {
  template <class ExecutionSpace, std::integral Index, class Body, class Result>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void operator()(std::string const& label, ExecutionSpace const& instance, Index n,
                  Body const& body, Result&& result) const {
    check_count("parallel_reduce", label, n);
    using To = ResultOf<std::remove_cvref_t<Result>>;
    if constexpr (is_reduced_in_registers<ExecutionSpace, Body, std::remove_cvref_t<Result>>) {
      // Leaves each thread 128 registers.
      reduce<typename To::Space, 512, Index>(label, instance, std::uint64_t(n), body,
                                             To::reducer(result), To::data(result));
    } else {
      Kokkos::parallel_reduce(label, range_of(instance, n), body, result);
      // Kokkos waits for variables, not for Views that only the host can access.
      using Of = std::remove_cvref_t<Result>;
      if constexpr ((Kokkos::is_view_v<Of> || Kokkos::is_reducer_v<Of>)&&!Kokkos::
                        SpaceAccessibility<ExecutionSpace, typename To::Space>::accessible)
        instance.fence("KokkosHostSpaces: the host gets the result of a reduction");
    }
  }
  template <class... What>
  requires(!BeginsWithLabel<What...>) void operator()(What const&...) const {
    static_assert(never_v<What...>,
                  "khs::parallel_reduce takes, in this order: a label, an instance, a number of "
                  "iterations, the body, and the result; with a policy take "
                  "Kokkos::parallel_reduce");
  }
};

}  // namespace Impl
/// \endcond

/// `parallel_reduce(label, instance, n, body, result)`: body(i, value) for i = 0 ... n - 1, of the type
/// of `n`; `result` is a variable or a View of rank 0, which receives the sum, or a reducer such as
/// Kokkos::Max. Without a reducer a body may have functions `init`, `join` and `final`. If the result
/// lies in memory that kernels of `instance` can access, the call is asynchronous on an instance of a
/// device, and may be captured; else it blocks until the host has the value. Kokkos Tools see a
/// parallel_reduce.
///
/// On CUDA it is one kernel whose result is bitwise the same in every run: the order of its parts
/// follows from `n` alone. Elsewhere, and for arrays, values of more than 1 KiB or that are not
/// trivially copyable, and bodies of more than 32 KiB, it is Kokkos::parallel_reduce over a
/// RangePolicy. element_sum is faster on large arrays on the device.
/// \throw Error if n < 0, or the device has no memory left for the parts of blocks
/// \throw OutOfPinnedMemory, DeviceError
inline constexpr Impl::ParallelReduceFunction parallel_reduce{};

}  // namespace KokkosHostSpaces

#endif
