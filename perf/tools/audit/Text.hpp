// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Labels are what a program makes them: of any length, with any bytes.

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_TEXT_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_TEXT_HPP

#include "Pair.hpp"

#include <string>

namespace KokkosHostSpaces::Audit {

/// The text in UTF-8, with a replacement character for what is none.
std::string as_utf8(std::string const& text);

/// On one line of a terminal, and not long.
std::string shown(std::string const& label);

/// The same in `quotes`, or words for what has no label.
std::string quoted(std::string const& label);

/// Such as "`field` (Cuda) <- `halo` (Host)".
std::string arrow(Pair const& pair);

/// This process among others, by what launchers of MPI tell: "rank 3 of 8 on a machine", or else
/// its number.
struct Process {
  std::string rank, size;  ///< empty where nobody tells
  std::string host;
  long id = 0;

  bool is_one_of_several() const { return !rank.empty() && size != "1"; }
  std::string name() const;
};
Process this_process();

/// "audit.3.json" of "audit.json", where there are other ranks.
std::string file_of(std::string const& file, Process const& process);

}  // namespace KokkosHostSpaces::Audit

#endif
