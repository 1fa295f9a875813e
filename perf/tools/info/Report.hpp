// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_INFO_REPORT_HPP
#define KOKKOS_HOST_SPACES_PERF_INFO_REPORT_HPP

#include "Findings.hpp"
#include "Warnings.hpp"

#include <iosfwd>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Writes a report for people.
void write_text(std::ostream& out, Findings const& findings, std::vector<Warning> const& warnings);

/// Writes one JSON object: sizes in bytes, rates in bytes per second. Unknown values are null or an
/// empty string.
void write_json(std::ostream& out, Findings const& findings, std::vector<Warning> const& warnings);

}  // namespace KokkosHostSpaces::Perf

#endif
