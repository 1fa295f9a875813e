// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_MACHINE_REPORT_HPP
#define KOKKOS_HOST_SPACES_PERF_MACHINE_REPORT_HPP

#include "Json.hpp"
#include "Machine.hpp"

#include <iosfwd>

namespace KokkosHostSpaces::Perf {

/// Two lines that head a report.
void write_machine(std::ostream& out, Machine const& machine);

/// The values of an object that is open.
void write_machine(Json& json, Machine const& machine);

}  // namespace KokkosHostSpaces::Perf

#endif
