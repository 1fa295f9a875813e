// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A parallel_for for short bodies: on a device a bare kernel, in which each thread does one index.
//
//   khs::parallel_for("axpy", instance, n, KOKKOS_LAMBDA(int i) { y(i) += 3 * x(i); });

#ifndef KOKKOS_HOST_SPACES_PARALLEL_FOR_HPP
#define KOKKOS_HOST_SPACES_PARALLEL_FOR_HPP

#include <KokkosHostSpaces/impl/vector/MapKernel.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <string>

namespace KokkosHostSpaces {

/// \cond
namespace Impl {

struct ParallelForFunction {
  template <class ExecutionSpace, std::integral Index, class Body>
  requires Kokkos::is_execution_space_v<ExecutionSpace>
  void operator()(std::string const& label, ExecutionSpace const& instance, Index n,
                  Body const& body) const {
    check_count("parallel_for", label, n);
    if constexpr (takes_own_kernel<ExecutionSpace, sizeof(Body)>) {
      ToldKernel const told(ToldKernel::Kind::loop, label, instance);
      enqueue_map(instance, body, n);
    } else
      Kokkos::parallel_for(label, range_of(instance, n), body);
  }
  template <class... What>
  requires(!BeginsWithLabel<What...>) void operator()(What const&...) const {
    static_assert(never_v<What...>,
                  "khs::parallel_for takes, in this order: a label, an instance, a number of "
                  "iterations, and the body; with a policy take Kokkos::parallel_for");
  }
};

}  // namespace Impl
/// \endcond

/// `parallel_for(label, instance, n, body)`: body(i) for i = 0 ... n - 1, of the type of `n`.
/// Asynchronous on an instance of a device; may be captured. Kokkos Tools see a parallel_for.
///
/// Elsewhere than on CUDA, and for bodies of more than 32 KiB, it is Kokkos::parallel_for over a
/// RangePolicy. The longer the body, the less it gains. element_wise is faster on large arrays on
/// the device, since it loads packs of 16 bytes: on an H200 by up to 13 % for double, and up to 58 %
/// for float.
/// \throw Error if n < 0  \throw DeviceError if the kernel cannot be launched
inline constexpr Impl::ParallelForFunction parallel_for{};

}  // namespace KokkosHostSpaces

#endif
