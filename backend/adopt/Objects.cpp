// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Objects.hpp"

#include "Elf.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include <dlfcn.h>
#include <sys/auxv.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt::Objects {

constinit std::mutex looking;

namespace {

constexpr char program[] = "/proc/self/exe";

// The program has no name.
std::string_view path_of(dl_phdr_info const& object) {
  return *object.dlpi_name != '\0' ? object.dlpi_name : program;
}

std::string_view file_name_of(dl_phdr_info const& object) {
  std::string_view const path = path_of(object);
  return path.substr(path.rfind('/') + 1);
}

// Calls f(object) in the order of loading, which is that of look-ups in the global scope, until it
// returns true.
template <class F>
bool any_object(F f) {
  std::lock_guard const lock(looking);
  auto const call = [](dl_phdr_info* object, std::size_t, void* data) {
    return (*static_cast<F*>(data))(*object) ? 1 : 0;
  };
  return dl_iterate_phdr(call, &f) != 0;
}

Dl_info object_of(void const* address) {
  Dl_info info = {};
  dladdr(address, &info);
  return info;
}

// Stays counted: what it returns stays loaded.
void* find_in(char const* path, char const* function) {
  void* const object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  return object != nullptr ? dlsym(object, function) : nullptr;
}

// Looks for a name that is in each CUDA runtime's table of errors, where constants are in memory: the file
// may have been replaced. In two parts: this library does not contain it.
bool has_cuda_runtime(dl_phdr_info const& object) {
  std::string const name = std::string("cudaErrorCudart") + "Unloading";
  return std::any_of(
      object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum, [&](ElfW(Phdr) const& segment) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_R | PF_W)) != PF_R) return false;
        auto const* const begin = reinterpret_cast<char*>(object.dlpi_addr + segment.p_vaddr);
        return memmem(begin, segment.p_memsz, name.data(), name.size()) != nullptr;
      });
}

bool counts_as_static(dl_phdr_info const& object) {
  for (char const* known :
       {"libcudart.so", "libcuda.so", "libnvidia-", "libcublas", "libcusparse", "libcusolver",
        "libcurand", "libcufft", "libcudnn", "libnccl", "libnvrtc", "libnvJitLink", "libcutensor"})
    if (file_name_of(object).starts_with(known)) return false;
  Elf const file(path_of(object).data());
  for (char const* copy : {"cublasSetMatrixAsync", "cublasGetMatrixAsync", "cublasSetVectorAsync",
                           "cublasGetVectorAsync"})
    if (!file.name_with(copy, Elf::Names::dynamic).empty()) return true;
  return has_cuda_runtime(object);
}

}  // namespace

unsigned long long loaded() noexcept {
  unsigned long long count = 0;
  any_object([&](dl_phdr_info const& object) { return (count = object.dlpi_adds) > 0; });
  return count;
}

bool is_loaded(char const* file_name) noexcept {
  return any_object(
      [&](dl_phdr_info const& object) { return file_name_of(object).starts_with(file_name); });
}

void* find_next(char const* function, char const* file_name) noexcept {
  if (void* const next = dlsym(RTLD_NEXT, function)) return next;
  std::string path;
  any_object([&](dl_phdr_info const& object) {
    if (file_name_of(object).starts_with(file_name)) path = path_of(object);
    return !path.empty();
  });
  return path.empty() ? nullptr : find_in(path.c_str(), function);
}

void* find_for_caller(char const* function, void const* caller) noexcept {
  static std::atomic<unsigned long long> seen{0};
  static std::atomic<bool> has_several{false};
  if (unsigned long long const now = loaded(); seen != now) {
    int runtimes = 0;
    has_several  = any_object([&](dl_phdr_info const& object) {
      return file_name_of(object).starts_with("libcudart.so") && ++runtimes > 1;
    });
    seen         = now;
  }
  if (!has_several) return nullptr;
  Dl_info const object         = object_of(caller);
  void const* const of_program = object_of(reinterpret_cast<void*>(getauxval(AT_ENTRY))).dli_fbase;
  bool const is_other          = object.dli_fname != nullptr && object.dli_fbase != of_program;
  return is_other ? find_in(object.dli_fname, function) : nullptr;  // of what it needs
}

std::string who_else_serves() noexcept {
  // Its names have a version, which dlsym does not look for.
  if (is_loaded("libc_malloc_debug.so")) return "free is that of libc_malloc_debug.so";
  void const* const own = object_of(reinterpret_cast<void*>(&who_else_serves)).dli_fbase;
  for (char const* name :
       {"_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZdlPvSt11align_val_t",
        "_ZdlPvSt11align_val_tRKSt9nothrow_t", "_ZdlPvmSt11align_val_t", "free", "realloc",
        "malloc_usable_size", "cudaMemcpyAsync"}) {
    Dl_info found = {};
    void* symbol  = nullptr;
    dladdr1(dlsym(RTLD_DEFAULT, name), &found, &symbol, RTLD_DL_SYMENT);
    if (found.dli_fbase == own) continue;
    // In a program for fixed addresses that takes the address of an imported function, that is its own.
    if (symbol != nullptr && static_cast<ElfW(Sym)*>(symbol)->st_shndx == SHN_UNDEF) continue;
    if (found.dli_fname == nullptr) return std::string(name) + " is not found";
    return std::string(name) + " is that of " + found.dli_fname;
  }
  return {};
}

// One that it shows is found by dlsym. One that it imports is not its own.
bool program_has_its_own_new() noexcept {
  Elf const file(program);
  static constexpr char name[] = "_ZnwmSt11align_val_t";
  return file.name_with(name, Elf::Names::dynamic).empty() &&
         !file.name_with(name, Elf::Names::all).empty();
}

char const* static_cuda_runtime() noexcept {
  static std::atomic<char const*> known{nullptr};
  static std::atomic<unsigned long long> seen{0};
  unsigned long long const now = loaded();
  if (known != nullptr || seen == now) return known;
  static std::mutex mutex;
  std::lock_guard const lock(mutex);
  static auto& innocent = *new std::set<std::pair<std::string, ElfW(Addr)>>;  // read before
  any_object([&](dl_phdr_info const& object) {
    std::pair const key(std::string(path_of(object)), object.dlpi_addr);
    if (innocent.count(key) > 0) return false;
    if (!counts_as_static(object)) return !innocent.insert(key).second;
    std::string why = key.first == program ? program_invocation_name : key.first;
    why += " has a CUDA runtime inside, whose copies cannot be seen: link it with -cudart shared";
    known = strdup(why.c_str());
    return true;
  });
  seen = now;
  return known;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt::Objects
