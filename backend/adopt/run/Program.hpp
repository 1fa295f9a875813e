// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_PROGRAM_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_PROGRAM_HPP

#include <string>
#include <vector>

#include "ElfFile.hpp"

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// The file that a shell would run by this name, or an empty string.
std::string find_in_path(std::string const& name);

/// The part of a path behind the last slash.
std::string name_of(std::string const& path);

/// What is run, and which file decides whether that can be adopted.
struct Program {
  std::string file;                    ///< to be executed
  std::vector<std::string> arguments;  ///< with its own name as the first
  std::string judged;                  ///< file, or the interpreter of a script
  ElfFile elf;                         ///< of the judged file
};

/// \param file found in the path.
/// \param arguments with the program's own name as the first. A script of `/usr/bin/env NAME` becomes NAME with the
/// script as its argument: env starts NAME as a child that the library has already left.
Program resolve(std::string file, std::vector<std::string> arguments);

/// What the program's own loader would load, with `preload` as LD_PRELOAD. Nothing of the program is run.
struct Rehearsal {
  std::vector<std::string> files;  ///< names and paths
  std::string complaint;           ///< of the library, by the loader; or empty
};
Rehearsal rehearse(Program const& program, std::string const& library, std::string const& preload);

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
