// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_VERDICT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_VERDICT_HPP

#include <string>

#include "Program.hpp"

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// Whether a program is adopted, and what its user is told.
struct Verdict {
  bool adopted = false;
  std::string words;  ///< "why): what to do", or empty
};

/// \param library path of the library to preload
/// \param preload what LD_PRELOAD will be
/// \param children whether programs that this one starts are adopted, too
Verdict judge(Program const& program, std::string const& library, std::string const& preload,
              bool children);

/// For srun, mpirun and their like: how to write it, or an empty string. \param arguments with its name as the first.
std::string right_order(std::vector<std::string> const& arguments);

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
