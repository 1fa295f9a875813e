// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_SETTINGS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_SETTINGS_HPP

#include <cstdlib>
#include <initializer_list>
#include <string>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// The variables of README.md, read once.
struct Settings {
  bool on            = true;   ///< false: nothing is adopted
  bool strict        = true;   ///< asynchronous copies wait for their own stream
  bool check         = false;  ///< relaxed, and tells of host code that races with copies
  bool skip_in_fork  = false;  ///< children of a fork have no page-locked memory
  bool children      = false;  ///< stay in LD_PRELOAD
  bool tells         = false;  ///< on stderr, why a program gains nothing: for the launcher
  bool without_gpu   = false;  ///< for tests: adopt although the system shows no GPU
  std::string report = "";     ///< "1", the pattern of a file's name, or none
};

/// The rank of this process among those of a launcher; "0" without one.
inline char const* told_rank() noexcept {
  for (char const* name : {"OMPI_COMM_WORLD_RANK", "PALS_RANKID", "PMIX_RANK", "PMI_RANK",
                           "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK", "SLURM_PROCID"})
    if (char const* const value = std::getenv(name)) return value;
  return "0";
}

/// Says on stderr what makes no sense, and is off then.
Settings const& settings() noexcept;

/// Removes this library from LD_PRELOAD of this process' environment; others there stay.
void leave_preload();

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
