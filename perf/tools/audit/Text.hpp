// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Makes labels printable, which may have any length and any bytes.

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_TEXT_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_TEXT_HPP

#include "Pair.hpp"

#include <string>

namespace KokkosHostSpaces::Audit {

/// The label on one line, shortened, with codes such as \x0a for all but the printable characters of ASCII.
std::string shown(std::string const& label);

/// The same in `quotes`, or a description if there is no label.
std::string quoted(std::string const& label);

/// Such as "`field` (Cuda) <- `halo` (Host)".
std::string arrow(Pair const& pair);

/// Names this process by the variables of MPI launchers, as in "rank 3 of 8 on a machine", or by its process
/// id.
struct Process {
  std::string rank, size;  ///< empty if not known
  std::string host;
  long id = 0;

  bool is_one_of_several() const { return !rank.empty() && size != "1"; }
  std::string name() const;
};
Process this_process();

/// "audit.3.txt" of "audit.txt" if there are several ranks.
std::string file_of(std::string const& file, Process const& process);

}  // namespace KokkosHostSpaces::Audit

#endif
