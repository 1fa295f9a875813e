// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXPLAIN_HPP
#define KOKKOS_HOST_SPACES_EXPLAIN_HPP

#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>
#include <KokkosHostSpaces/impl/copy/ExplainedCopy.hpp>

#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// How `Kokkos::deep_copy(instance, dst, src)` would copy, in words and without copying: by one
/// memcpy, 2-D or 3-D ones, or a kernel through the mapped address, and why; how many bytes;
/// whether it is asynchronous, and if not, what to do about it. Or why it would be refused. For
/// people: the words may change.
template <class ExecutionSpace, class DT, class... DP, class ST, class... SP>
requires Kokkos::is_execution_space_v<ExecutionSpace> std::string explain(
    ExecutionSpace const&, Kokkos::View<DT, DP...> const& dst, Kokkos::View<ST, SP...> const& src) {
  using Dst = Kokkos::View<DT, DP...>;
  using Src = Kokkos::View<ST, SP...>;
  Impl::check_types<Dst, Src>();
  Impl::ExplainedCopy copy = Impl::facts_of(dst, src);
#ifdef KOKKOS_ENABLE_CUDA
  copy.by_cuda_instance = std::is_same_v<ExecutionSpace, Kokkos::Cuda>;
  copy.is_ours          = Impl::OurCopy<ExecutionSpace, Dst, Src>;
  copy.has_device       = Impl::is_cuda_only_v<typename Dst::memory_space> ||
                    Impl::is_cuda_only_v<typename Src::memory_space>;
#endif
  return Impl::explain(copy);
}

/// The same of the default instance of Kokkos' default execution space.
template <class DT, class... DP, class ST, class... SP>
std::string explain(Kokkos::View<DT, DP...> const& dst, Kokkos::View<ST, SP...> const& src) {
  return explain(Kokkos::DefaultExecutionSpace(), dst, src);
}

}  // namespace KokkosHostSpaces

#endif
