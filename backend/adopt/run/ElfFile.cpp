// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Program.hpp"

#include "../Elf.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

// That of this program: the library beside it is of the same architecture.
ElfW(Ehdr) const& own_header() {
  static Elf const own("/proc/self/exe");
  static ElfW(Ehdr) const none = {};
  return own.header().empty() ? none : own.header().front();
}

std::string sanitizer_named(std::string_view symbol) {
  for (auto const* const name : {"asan", "tsan", "msan", "lsan", "hwasan"}) {
    if (symbol == "__" + std::string(name) + "_init") return name;
  }
  return {};
}

// The runtimes of sanitizers are started before all else; where they are linked statically, only the table that linkers
// keep for debuggers names them.
std::string sanitizer_of(Elf const& file) {
  std::string found;
  auto const look = [&](auto const&, std::string_view name) {
    if (name.starts_with("__")) found = sanitizer_named(name);
    return !found.empty();
  };
  auto const sections     = file.sections();
  bool const starts_early = std::any_of(sections.begin(), sections.end(), [](auto const& section) {
    return section.sh_type == SHT_PREINIT_ARRAY;
  });
  if (!file.any_symbol(SHT_DYNSYM, look) && starts_early) file.any_symbol(SHT_SYMTAB, look);
  return found;
}

}  // namespace

ElfFile ElfFile::read(std::string const& path) {
  ElfFile result;
  Elf const file(path.c_str());
  std::string_view const all = file.all();
  if (all.empty()) return result;
  result.kind = Kind::other;
  if (all.starts_with("#!")) {
    result.kind        = Kind::script;
    result.interpreter = all.substr(2, std::min<std::size_t>(all.find('\n'), 255) - 2);
  } else if (all.starts_with(ELFMAG)) {
    result.kind       = Kind::foreign;
    auto const header = file.header();
    if (header.empty() || std::memcmp(header[0].e_ident, own_header().e_ident, EI_VERSION) != 0 ||
        header[0].e_machine != own_header().e_machine) {
      return result;
    }
    result.kind      = Kind::native;
    result.sanitizer = sanitizer_of(file);
    for (auto const& segment : file.segments()) {
      if (segment.p_type == PT_INTERP) result.loader = file.text(segment.p_offset);
      result.has_cuda_runtime =
          result.has_cuda_runtime ||
          (has_constants(segment) &&
           holds_cuda_runtime(file.bytes(segment.p_offset, segment.p_filesz)));
    }
  }
  return result;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
