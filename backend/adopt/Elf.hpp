// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What an ELF file says of itself, for the library and for the launcher. No content makes it fail.

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_ELF_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_ELF_HPP

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

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
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat found = {};
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
      auto const bytes = static_cast<std::size_t>(found.st_size);
      void* const at   = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) m_bytes = {static_cast<char const*>(at), bytes};
    }
    close(file);
  }
  ~Elf() {
    if (!m_bytes.empty()) munmap(const_cast<char*>(m_bytes.data()), m_bytes.size());
  }
  Elf(Elf const&)            = delete;
  Elf& operator=(Elf const&) = delete;

  std::string_view all() const { return m_bytes; }
  std::string_view bytes(std::size_t at, std::size_t count) const {
    return at < m_bytes.size() ? m_bytes.substr(at, count) : std::string_view();
  }

  /// Up to the first zero byte.
  std::string_view text(std::size_t at) const {
    std::string_view const rest = bytes(at, m_bytes.size());
    return rest.substr(0, rest.find('\0'));
  }

  std::span<ElfW(Ehdr) const> header() const { return table<ElfW(Ehdr)>(0, 1); }
  std::span<ElfW(Phdr) const> segments() const {
    auto const head = header();
    return head.empty() ? std::span<ElfW(Phdr) const>()
                        : table<ElfW(Phdr)>(head[0].e_phoff, head[0].e_phnum);
  }
  std::span<ElfW(Shdr) const> sections() const {
    auto const head = header();
    return head.empty() ? std::span<ElfW(Shdr) const>()
                        : table<ElfW(Shdr)>(head[0].e_shoff, head[0].e_shnum);
  }

  /// Calls f(symbol, name) for the symbols of a kind, SHT_DYNSYM or SHT_SYMTAB, until it returns true.
  template <class F>
  bool any_symbol(unsigned kind, F const& f) const {
    auto const all = sections();
    return std::any_of(all.begin(), all.end(), [&](auto const& section) {
      if (section.sh_type != kind || section.sh_link >= all.size()) return false;
      std::size_t const names = all[section.sh_link].sh_offset;
      auto const symbols = table<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)));
      return std::any_of(symbols.begin(), symbols.end(), [&](auto const& symbol) {
        return f(symbol, text(names + symbol.st_name));
      });
    });
  }

 private:
  template <class Entry>
  std::span<Entry const> table(std::size_t at, std::size_t count) const {
    static_assert(std::is_trivially_copyable_v<Entry>);
    bool const fits = at <= m_bytes.size() && count <= (m_bytes.size() - at) / sizeof(Entry);
    if (!fits || at % alignof(Entry) != 0) return {};
    return {reinterpret_cast<Entry const*>(m_bytes.data() + at), count};
  }

  std::string_view m_bytes;
};

/// True for what is loaded, and not written: where constants are.
inline bool has_constants(ElfW(Phdr) const& segment) {
  return segment.p_type == PT_LOAD && (segment.p_flags & (PF_R | PF_W)) == PF_R;
}

/// Looks for a name that is in each CUDA runtime's table of errors. In two parts: who looks does not
/// contain it.
inline bool holds_cuda_runtime(std::string_view constants) {
  static constexpr std::string_view first = "cudaErrorCudart", rest = "Unloading";
  for (std::size_t at = 0; (at = constants.find(first, at)) != constants.npos;) {
    at += first.size();
    if (constants.substr(at, rest.size()) == rest) return true;
  }
  return false;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
