// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What an ELF file says of itself, for the library and for the launcher. No content makes it fail.

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_ELF_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_ELF_HPP

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// A regular file, mapped for reading. Reading beyond its end gives nothing.
class Elf {
 public:
  explicit Elf(char const* path) noexcept {
    int const file    = open(path, O_RDONLY | O_CLOEXEC);
    struct stat found = {};
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
      auto const bytes = static_cast<std::size_t>(found.st_size);
      void* const at   = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) m_bytes = {static_cast<char const*>(at), bytes};
    }
    if (file >= 0) close(file);
  }
  ~Elf() {
    if (!m_bytes.empty()) munmap(const_cast<char*>(m_bytes.data()), m_bytes.size());
  }
  Elf& operator=(Elf&&) = delete;  // and so not copied either

  std::string_view bytes(std::size_t at, std::size_t count) const {
    return at < m_bytes.size() ? m_bytes.substr(at, count) : std::string_view();
  }

  /// nullptr if the file is too short.
  ElfW(Ehdr) const* header() const { return table<ElfW(Ehdr)>(0, 1).data(); }
  std::span<ElfW(Phdr) const> segments() const {
    auto const* const head = header();
    return table<ElfW(Phdr)>(head ? head->e_phoff : 0, head ? head->e_phnum : 0);
  }
  std::span<ElfW(Shdr) const> sections() const {
    auto const* const head = header();
    return table<ElfW(Shdr)>(head ? head->e_shoff : 0, head ? head->e_shnum : 0);
  }

  /// Whose names: those of symbols and libraries that the loader needs, or those of all symbols, which
  /// are kept for debuggers, if at all.
  enum class Names { dynamic, all };

  /// The first name with such a part; empty if there is none.
  std::string_view name_with(std::string_view part, Names names) const {
    for (auto const& section : sections()) {
      bool const is_loaded = (section.sh_flags & SHF_ALLOC) != 0;
      if (section.sh_type != SHT_STRTAB || is_loaded != (names == Names::dynamic)) continue;
      std::string_view const all = bytes(section.sh_offset, section.sh_size);
      auto const* const found =
          static_cast<char const*>(memmem(all.data(), all.size(), part.data(), part.size()));
      if (found == nullptr) continue;
      std::size_t const begin = all.rfind('\0', static_cast<std::size_t>(found - all.data())) + 1;
      return all.substr(begin, all.find('\0', begin) - begin);
    }
    return {};
  }

 private:
  template <class Entry>
  std::span<Entry const> table(std::size_t at, std::size_t count) const {
    bool const fits = at <= m_bytes.size() && count <= (m_bytes.size() - at) / sizeof(Entry);
    if (!fits || at % alignof(Entry) != 0) return {};
    return {reinterpret_cast<Entry const*>(m_bytes.data() + at), count};
  }

  std::string_view m_bytes;
};

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
