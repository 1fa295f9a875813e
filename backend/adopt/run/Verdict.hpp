// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_VERDICT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_VERDICT_HPP

#include <string>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// Why a library cannot be preloaded into a program, as "why): what to do"; empty if it can. What the
/// library finds out itself, it says itself. Nothing of the file is run, and no content makes this fail.
/// \param file the program, or a script, which is judged by its interpreter
std::string why_not_adopted(std::string file);

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
