// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_NEXT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_NEXT_HPP

#include "Objects.hpp"

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// The names that decide whose memory a delete or free gets, and whether copies are seen.
extern char const* const memory_functions[];

/// Calls a function of the CUDA runtime that this library interposes, as the program would have without
/// it. An error that no runtime has (cudaErrorUnknown) if there is none.
template <class Function, class... Arguments>
int call_next(Function& next, char const* name, Arguments... arguments) noexcept {
  if (next == nullptr) next = reinterpret_cast<Function>(Objects::find_next(name, "libcudart.so"));
  return next != nullptr ? next(arguments...) : 999;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
