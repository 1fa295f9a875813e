// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Objects.hpp"

#include "Elf.hpp"

#include <algorithm>
#include <atomic>
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

// In its memory: its file may have been replaced.
bool has_cuda_runtime(dl_phdr_info const& object) {
  std::span const segments(object.dlpi_phdr, object.dlpi_phnum);
  return std::any_of(segments.begin(), segments.end(), [&](auto const& segment) {
    auto const* const begin = reinterpret_cast<char const*>(object.dlpi_addr + segment.p_vaddr);
    return has_constants(segment) && holds_cuda_runtime({begin, segment.p_memsz});
  });
}

bool is_math_library(char const* name) {
  for (char const* known : {"libcublas", "libcusparse", "libcusolver", "libcurand", "libcufft",
                            "libcudnn", "libnccl", "libnvrtc", "libnvJitLink", "libcutensor"})
    if (begins(name, known)) return true;
  return false;
}

bool calls_copies_of_cublas(char const* path) {
  return Elf(path).any_symbol(SHT_DYNSYM, [](ElfW(Sym) const& symbol, std::string_view name) {
    bool const is_copy = name.starts_with("cublasSet") || name.starts_with("cublasGet");
    return symbol.st_shndx == SHN_UNDEF && is_copy && name.find("Async") != name.npos;
  });
}

bool counts_as_static(dl_phdr_info const& object) {
  char const* const name = file_name_of(path_of(object));
  if (begins(name, "libcudart.so")) return false;
  if (is_math_library(name)) return false;
  return has_cuda_runtime(object) || calls_copies_of_cublas(path_of(object));
}

}  // namespace

Text defined_by_program(char const* const* names) noexcept {
  Text which{};
  Elf const file("/proc/self/exe");
  auto const imports = [&](ElfW(Sym) const& symbol, std::string_view name) {
    return symbol.st_shndx == SHN_UNDEF && name == names[0];
  };
  auto const defines = [&](ElfW(Sym) const& symbol, std::string_view name) {
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) return false;
    for (char const* const* wanted = names; *wanted != nullptr; ++wanted)
      if (name == *wanted)
        std::snprintf(which.data(), which.size(), "the program itself defines %s", *wanted);
    return which[0] != '\0';
  };
  if (!file.any_symbol(SHT_DYNSYM, imports)) file.any_symbol(SHT_SYMTAB, defines);
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
