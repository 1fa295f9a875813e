// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_REPORT_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_REPORT_HPP

#include "Findings.hpp"
#include "Text.hpp"

#include <string>

namespace KokkosHostSpaces::Audit {

/// Text for people: the most expensive copies, and advice.
std::string table_of(Findings const& findings, Process const& process, double run_seconds);

/// JSON with all data.
std::string json_of(Findings const& findings, Process const& process, double run_seconds);

}  // namespace KokkosHostSpaces::Audit

#endif
