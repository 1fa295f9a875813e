// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_ELFFILE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_ELFFILE_HPP

#include <string>

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

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
