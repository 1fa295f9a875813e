// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_PROGRAM_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_PROGRAM_HPP

#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// What has to be known of a program or library before it runs.
struct ElfFile {
  enum class Kind { unreadable, script, foreign, native, other };

  Kind kind = Kind::unreadable;   ///< foreign: ELF of another architecture; other: no ELF, no #!
  std::string interpreter;        ///< the line behind #!
  std::string loader;             ///< PT_INTERP; empty: statically linked, or a library
  std::string sanitizer;          ///< the name of one that is linked in, or empty
  bool has_cuda_runtime = false;  ///< inside of it

  /// Reads what a file says of itself; nothing of it is run, and no content makes this fail.
  static ElfFile read(std::string const& path);
};

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
