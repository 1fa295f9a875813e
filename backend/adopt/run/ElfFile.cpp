// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "ElfFile.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

// The file as bytes. Whatever lies outside of it reads as absent.
class Bytes {
 public:
  explicit Bytes(std::string const& path) {
    int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat found = {};
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
      void* const at =
          mmap(nullptr, static_cast<std::size_t>(found.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) {
        m_bytes = {static_cast<char const*>(at), static_cast<std::size_t>(found.st_size)};
      }
    }
    close(file);
  }
  ~Bytes() {
    if (!m_bytes.empty()) munmap(const_cast<char*>(m_bytes.data()), m_bytes.size());
  }
  Bytes(Bytes const&)            = delete;
  Bytes& operator=(Bytes const&) = delete;

  std::string_view all() const { return m_bytes; }

  std::string_view bytes(std::size_t at, std::size_t count) const {
    return at < m_bytes.size() ? m_bytes.substr(at, count) : std::string_view();
  }

  // Up to the first zero byte.
  std::string_view text(std::size_t at) const {
    std::string_view const rest = bytes(at, m_bytes.size());
    return rest.substr(0, rest.find('\0'));
  }

  // A table of `count` entries, or nothing if it does not lie in the file.
  template <class Entry>
  std::span<Entry const> table(std::size_t at, std::size_t count) const {
    static_assert(std::is_trivially_copyable_v<Entry>);
    bool const fits = at <= m_bytes.size() && count <= (m_bytes.size() - at) / sizeof(Entry);
    if (!fits || at % alignof(Entry) != 0) return {};
    return {reinterpret_cast<Entry const*>(m_bytes.data() + at), count};
  }

 private:
  std::string_view m_bytes;
};

using Header  = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Section = ElfW(Shdr);
using Symbol  = ElfW(Sym);

// That of this program: the library beside it is of the same architecture.
Header const& own_header() {
  static Bytes const own("/proc/self/exe");
  static Header const none = {};
  auto const found         = own.table<Header>(0, 1);
  return found.empty() ? none : found.front();
}

std::string loader_of(Bytes const& file, Header const& header) {
  for (auto const& segment : file.table<Segment>(header.e_phoff, header.e_phnum)) {
    if (segment.p_type == PT_INTERP) return std::string(file.text(segment.p_offset));
  }
  return {};
}

std::string sanitizer_named(std::string_view symbol) {
  for (auto const* const name : {"asan", "tsan", "msan", "lsan", "hwasan"}) {
    if (symbol == "__" + std::string(name) + "_init") return name;
  }
  return {};
}

// The runtimes of sanitizers are started before all else; where they are linked statically, only the table that linkers
// keep for debuggers names them.
bool has_symbols_of_interest(Section const& section, bool starts_early) {
  return section.sh_type == SHT_DYNSYM || (starts_early && section.sh_type == SHT_SYMTAB);
}

// Each CUDA runtime has a table of its errors.
bool has_cuda_runtime(Bytes const& file, Section const& section) {
  return section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_ALLOC) != 0 &&
         (section.sh_flags & SHF_EXECINSTR) == 0 &&
         file.bytes(section.sh_offset, section.sh_size).find("cudaErrorCudartUnloading") !=
             std::string_view::npos;
}

void read_sections(ElfFile& result, Bytes const& file, Header const& header) {
  auto const sections     = file.table<Section>(header.e_shoff, header.e_shnum);
  bool const starts_early = std::any_of(sections.begin(), sections.end(), [](auto const& section) {
    return section.sh_type == SHT_PREINIT_ARRAY;
  });
  for (auto const& section : sections) {
    result.has_cuda_runtime = result.has_cuda_runtime || has_cuda_runtime(file, section);
    if (!has_symbols_of_interest(section, starts_early) || section.sh_link >= sections.size())
      continue;
    std::size_t const strings = sections[section.sh_link].sh_offset;
    for (auto const& symbol :
         file.table<Symbol>(section.sh_offset, section.sh_size / sizeof(Symbol))) {
      std::string_view const name = file.text(strings + symbol.st_name);
      if (result.sanitizer.empty() && name.starts_with("__"))
        result.sanitizer = sanitizer_named(name);
    }
  }
}

}  // namespace

ElfFile ElfFile::read(std::string const& path) {
  ElfFile result;
  Bytes const file(path);
  std::string_view const all = file.all();
  if (all.empty()) return result;
  result.kind = Kind::other;
  if (all.starts_with("#!")) {
    result.kind        = Kind::script;
    result.interpreter = all.substr(2, std::min<std::size_t>(all.find('\n'), 255) - 2);
  } else if (all.starts_with(ELFMAG)) {
    result.kind       = Kind::foreign;
    auto const header = file.table<Header>(0, 1);
    if (header.empty() || std::memcmp(header[0].e_ident, own_header().e_ident, EI_VERSION) != 0 ||
        header[0].e_machine != own_header().e_machine) {
      return result;
    }
    result.kind   = Kind::native;
    result.loader = loader_of(file, header[0]);
    read_sections(result, file, header[0]);
  }
  return result;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
