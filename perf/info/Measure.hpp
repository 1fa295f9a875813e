// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_INFO_MEASURE_HPP
#define KOKKOS_HOST_SPACES_PERF_INFO_MEASURE_HPP

#include "Findings.hpp"

namespace KokkosHostSpaces::Perf {

/// Adds rates to the GPUs, or to the host where there is none: by memory that the library's own way
/// of page-locking gets. Takes about 5 seconds in all. \throw std::exception
void measure(Findings& findings);

}  // namespace KokkosHostSpaces::Perf

#endif
