// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUPPORT_EXIT_CODE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUPPORT_EXIT_CODE_HPP

namespace KokkosHostSpaces::Perf {

/// Of the programs here; skipped: there is no device.
enum ExitCode { success = 0, wrong_result = 1, failure = 2, skipped = 4 };

}  // namespace KokkosHostSpaces::Perf

#endif
