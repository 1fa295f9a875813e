// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_VERDICT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RUN_VERDICT_HPP

#include "../../Text.hpp"
#include "../Elf.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/xattr.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

// The loader ignores LD_PRELOAD for programs that run with the rights of another user.
inline bool has_rights_of_its_own(std::string const& file) {
  struct stat found = {};
  return (stat(file.c_str(), &found) == 0 && (found.st_mode & (S_ISUID | S_ISGID)) != 0) ||
         getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
}

inline std::string loader_of(Elf const& elf) {
  for (auto const& segment : elf.segments())
    if (segment.p_type == PT_INTERP)
      return std::string(elf.bytes(segment.p_offset, segment.p_filesz)).c_str();
  return {};
}

inline std::string real(std::string const& path) {
  char resolved[PATH_MAX] = "";
  return realpath(path.c_str(), resolved) != nullptr ? resolved : "";
}

// The runtimes of sanitizers are started before all else; where they are linked statically, only the names
// for debuggers may have them.
inline std::string_view sanitizer_in(Elf const& elf) {
  bool const starts_early = std::ranges::any_of(
      elf.sections(), [](auto const& section) { return section.sh_type == SHT_PREINIT_ARRAY; });
  for (std::string_view const name :
       {elf.name_with("san_init", Elf::Names::dynamic),
        elf.name_with("san.so", Elf::Names::dynamic),
        elf.name_with("san_init", starts_early ? Elf::Names::all : Elf::Names::dynamic)}) {
    std::size_t const prefix = name.starts_with("lib") ? 3 : 2;
    if ((prefix == 3 || name.starts_with("__")) && !name.starts_with("libubsan"))
      return name.substr(prefix, name.find("san") + 3 - prefix);
  }
  return {};
}

/// Why a library cannot be preloaded into a program, as "why): what to do"; empty if it can. What the
/// library finds out itself, it says itself. Nothing of the file is run, and no content makes this fail.
/// \param file the program, or a script, which is judged by its interpreter
inline std::string why_not_adopted(std::string const& file) {
  static Elf const own("/proc/self/exe");
  Elf const elf(file.c_str());
  std::string_view const all = elf.bytes(0, SIZE_MAX);
  if (all.starts_with("#!")) {
    // The interpreter of a script may not be a script that leads back to it.
    std::string interpreter;
    InText(std::string(all.substr(2, std::min<std::size_t>(all.find('\n'), 255) - 2))) >>
        interpreter;
    return Elf(interpreter.c_str()).bytes(0, 2) == "#!" ? "" : why_not_adopted(interpreter);
  }
  if (all.empty()) return "it cannot be read): allow reading";
  if (!all.starts_with(ELFMAG)) return "it is no program for Linux): give the program itself";
  auto const *head = elf.header(), *own_head = own.header();
  if (head == nullptr || own_head == nullptr || head->e_machine != own_head->e_machine ||
      std::memcmp(head->e_ident, own_head->e_ident, EI_VERSION) != 0)
    return "it was built for another architecture): use a build for this one";
  std::string const loader = loader_of(elf);
  if (loader.empty()) return "it is statically linked): link it dynamically";
  if (has_rights_of_its_own(file))
    return "it has the set-user-id bit or capabilities, where the system ignores LD_PRELOAD): use a copy without";
  if (real(loader) != real(loader_of(own)))
    return "its loader is " + loader + ", and not that of the system's glibc): build it for that";
  if (auto const sanitizer = sanitizer_in(elf); !sanitizer.empty())
    return "it has the sanitizer " + std::string(sanitizer) +
           ", which replaces the same functions): use a build without";
  return {};
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
