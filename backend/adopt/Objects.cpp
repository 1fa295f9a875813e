// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Objects.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt::Objects {

namespace {

// The program has no name.
char const* path_of(dl_phdr_info const& object) {
  return object.dlpi_name != nullptr && *object.dlpi_name != '\0' ? object.dlpi_name
                                                                  : "/proc/self/exe";
}

char const* file_name_of(char const* path) {
  char const* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool begins(char const* text, char const* with) {
  return std::strncmp(text, with, std::strlen(with)) == 0;
}

// Calls f(object) in the order of loading, which is that of look-ups in the global scope, until it
// returns true.
template <class F>
bool any_object(F f) {
  auto const call = [](dl_phdr_info* object, std::size_t, void* data) {
    return (*static_cast<F*>(data))(*object) ? 1 : 0;
  };
  return dl_iterate_phdr(call, &f) != 0;
}

/// The file of an object, mapped for reading.
class File {
 public:
  explicit File(char const* path) {
    int const file   = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info = {};
    if (file >= 0 && fstat(file, &info) == 0 && info.st_size >= long(sizeof(ElfW(Ehdr)))) {
      m_bytes           = static_cast<std::size_t>(info.st_size);
      void* const bytes = mmap(nullptr, m_bytes, PROT_READ, MAP_PRIVATE, file, 0);
      if (bytes != MAP_FAILED) m_begin = static_cast<char const*>(bytes);
    }
    if (file >= 0) close(file);
  }
  ~File() {
    if (m_begin != nullptr) munmap(const_cast<char*>(m_begin), m_bytes);
  }
  File(File const&)            = delete;
  File& operator=(File const&) = delete;

  /// `count` objects at an offset; nullptr if the file does not have them.
  template <class T>
  T const* at(std::size_t offset, std::size_t count = 1) const {
    bool const fits =
        m_begin != nullptr && offset <= m_bytes && count <= (m_bytes - offset) / sizeof(T);
    return fits ? reinterpret_cast<T const*>(m_begin + offset) : nullptr;
  }

  /// Calls f(section, name) for its sections until it returns true.
  template <class F>
  bool any_section(F f) const {
    auto const* const head = at<ElfW(Ehdr)>(0);
    auto const* const all =
        head != nullptr ? at<ElfW(Shdr)>(head->e_shoff, head->e_shnum) : nullptr;
    if (all == nullptr || head->e_shstrndx >= head->e_shnum) return false;
    char const* const names =
        at<char>(all[head->e_shstrndx].sh_offset, all[head->e_shstrndx].sh_size);
    for (unsigned i = 0; names != nullptr && i < head->e_shnum; ++i)
      if (all[i].sh_name < all[head->e_shstrndx].sh_size && f(all[i], names + all[i].sh_name))
        return true;
    return false;
  }

  /// Calls f(symbol, name) for the symbols of a table, .symtab or .dynsym, until it returns true.
  template <class F>
  bool any_symbol(char const* table, F f) const {
    auto const* const head = at<ElfW(Ehdr)>(0);
    return any_section([&](ElfW(Shdr) const& section, char const* name) {
      if (std::strcmp(name, table) != 0 || section.sh_link >= head->e_shnum) return false;
      auto const& strings       = at<ElfW(Shdr)>(head->e_shoff, head->e_shnum)[section.sh_link];
      std::size_t const n       = section.sh_size / sizeof(ElfW(Sym));
      auto const* const symbols = at<ElfW(Sym)>(section.sh_offset, n);
      char const* const names   = at<char>(strings.sh_offset, strings.sh_size);
      for (std::size_t i = 0; symbols != nullptr && names != nullptr && i < n; ++i)
        if (symbols[i].st_name < strings.sh_size && f(symbols[i], names + symbols[i].st_name))
          return true;
      return false;
    });
  }

 private:
  char const* m_begin = nullptr;
  std::size_t m_bytes = 0;
};

// Looks for a name that is in each runtime's table of errors. In two parts: this library does not contain
// it.
bool has_marker(dl_phdr_info const& object, File const& file) {
  static constexpr char first[] = "cudaErrorCudart", rest[] = "Unloading";
  return file.any_section([&](ElfW(Shdr) const& section, char const* name) {
    if (std::strcmp(name, ".rodata") != 0) return false;
    auto const* at  = reinterpret_cast<char const*>(object.dlpi_addr + section.sh_addr);
    auto const* end = at + section.sh_size;
    auto const find = [&] {
      return static_cast<char const*>(memmem(at, std::size_t(end - at), first, sizeof first - 1));
    };
    while ((at = find()) != nullptr) {
      at += sizeof first - 1;
      if (std::size_t(end - at) >= sizeof rest && std::memcmp(at, rest, sizeof rest - 1) == 0)
        return true;
    }
    return false;
  });
}

bool is_math_library(char const* name) {
  for (char const* known : {"libcublas", "libcusparse", "libcusolver", "libcurand", "libcufft",
                            "libcudnn", "libnccl", "libnvrtc", "libnvJitLink", "libcutensor"})
    if (begins(name, known)) return true;
  return false;
}

bool calls_copies_of_cublas(File const& file) {
  return file.any_symbol(".dynsym", [](ElfW(Sym) const& symbol, char const* name) {
    bool const is_copy = begins(name, "cublasSet") || begins(name, "cublasGet");
    return symbol.st_shndx == SHN_UNDEF && is_copy && std::strstr(name, "Async") != nullptr;
  });
}

bool counts_as_static(dl_phdr_info const& object) {
  char const* const name = file_name_of(path_of(object));
  if (begins(name, "libcudart.so")) return false;
  File const file(path_of(object));
  if (is_math_library(name)) return false;
  return has_marker(object, file) || calls_copies_of_cublas(file);
}

}  // namespace

Text defined_by_program(char const* const* names) noexcept {
  Text which{};
  File const file("/proc/self/exe");
  bool const imports = file.any_symbol(".dynsym", [&](ElfW(Sym) const& symbol, char const* name) {
    return symbol.st_shndx == SHN_UNDEF && std::strcmp(name, names[0]) == 0;
  });
  if (imports) return which;
  file.any_symbol(".symtab", [&](ElfW(Sym) const& symbol, char const* name) {
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) return false;
    for (char const* const* wanted = names; *wanted != nullptr; ++wanted) {
      if (std::strcmp(name, *wanted) != 0) continue;
      std::snprintf(which.data(), which.size(), "the program itself defines %s", name);
      return true;
    }
    return false;
  });
  return which;
}

unsigned long long loaded() noexcept {
  unsigned long long count = 0;
  any_object([&](dl_phdr_info const& object) {
    count = object.dlpi_adds;
    return true;
  });
  return count;
}

bool is_loaded(char const* file_name) noexcept {
  return any_object(
      [&](dl_phdr_info const& object) { return begins(file_name_of(path_of(object)), file_name); });
}

void* find_next(char const* function, char const* file_name) noexcept {
  if (void* const next = dlsym(RTLD_NEXT, function)) return next;
  std::array<char, 4096> path{};
  any_object([&](dl_phdr_info const& object) {
    bool const is_it = begins(file_name_of(path_of(object)), file_name);
    if (is_it) std::snprintf(path.data(), path.size(), "%s", path_of(object));
    return is_it;
  });
  if (path[0] == '\0') return nullptr;
  void* const object = dlopen(path.data(), RTLD_LAZY | RTLD_NOLOAD);  // stays counted: stays loaded
  return object != nullptr ? dlsym(object, function) : nullptr;
}

Text who_else_defines(char const* const* names) noexcept {
  Text why{};
  Dl_info own = {};
  if (dladdr(reinterpret_cast<void*>(&who_else_defines), &own) == 0) return why;
  for (std::size_t i = 0; names[i] != nullptr; ++i) {
    void* const found = dlsym(RTLD_DEFAULT, names[i]);
    Dl_info info      = {};
    bool const known  = found != nullptr && dladdr(found, &info) != 0;
    if (known && info.dli_fbase == own.dli_fbase) continue;
    std::snprintf(why.data(), why.size(), "%s is that of %s", names[i],
                  known ? info.dli_fname : "nobody");
    return why;
  }
  return why;
}

bool has_several_runtimes() noexcept {
  static std::atomic<unsigned long long> seen{0};
  static std::atomic<bool> several{false};
  unsigned long long const now = loaded();
  if (seen.exchange(now) == now) return several;
  int count = 0;
  any_object([&](dl_phdr_info const& object) {
    count += begins(file_name_of(path_of(object)), "libcudart.so") ? 1 : 0;
    return false;
  });
  several = count > 1;
  return several;
}

void* find_for_caller(char const* function, void const* caller) noexcept {
  Dl_info info = {}, program = {};
  bool const known = dladdr(caller, &info) != 0 && info.dli_fname != nullptr;
  if (!known || (dladdr(reinterpret_cast<void*>(getauxval(AT_ENTRY)), &program) != 0 &&
                 program.dli_fbase == info.dli_fbase))
    return nullptr;
  void* const object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return object != nullptr ? dlsym(object, function) : nullptr;  // of what it needs
}

Text static_cuda_runtime() noexcept {
  static std::mutex mutex;
  static Text known{};
  static unsigned long long seen = 0;
  unsigned long long const now   = loaded();
  std::lock_guard const lock(mutex);
  if (known[0] != '\0' || seen == now) return known;
  seen                  = now;
  static auto& innocent = *new std::set<std::pair<std::string, ElfW(Addr)>>;  // read before
  any_object([&](dl_phdr_info const& object) {
    if (innocent.count({path_of(object), object.dlpi_addr}) > 0) return false;
    if (!counts_as_static(object)) {
      innocent.emplace(path_of(object), object.dlpi_addr);
      return false;
    }
    bool const is_program = path_of(object) != object.dlpi_name;
    std::snprintf(known.data(), known.size(), "%s", is_program ? "the program" : path_of(object));
    return true;
  });
  return known;
}

char const* sanitizer() noexcept {
  for (char const* name : {"__asan_init", "__tsan_init", "__msan_init"})
    if (dlsym(RTLD_DEFAULT, name) != nullptr) return name;
  return nullptr;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt::Objects
