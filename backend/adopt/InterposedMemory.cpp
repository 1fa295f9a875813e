// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The functions of the C++ and C libraries that this library interposes. The next ones are looked up when
// the library is loaded: never in `free`, which the look-up calls.

#include "Adoption.hpp"
#include "Next.hpp"
#include "Settings.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <dlfcn.h>
#include <malloc.h>

#define KHS_EXPORT __attribute__((visibility("default")))

using KokkosHostSpaces::Impl::Backend::Adopt::Adoption;
namespace Adopt = KokkosHostSpaces::Impl::Backend::Adopt;

namespace {

using New        = void*(std::size_t, std::align_val_t);
using NewNothrow = void*(std::size_t, std::align_val_t, std::nothrow_t const&);
using Delete     = void(void*, std::align_val_t);

struct Next {
  void (*free)(void*)                  = nullptr;
  void* (*realloc)(void*, std::size_t) = nullptr;
  std::size_t (*usable)(void*)         = nullptr;
  New* make                            = nullptr;
  NewNothrow* make_nothrow             = nullptr;
  Delete* drop                         = nullptr;
};
Next next;

// What is freed before the next free is known.
std::array<void*, 1024> early;
std::size_t early_count = 0;

constexpr std::align_val_t adopted_alignment{64};

template <class F>
void find(F*& function, char const* name) {
  function = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

void free_next(void* pointer) {
  if (next.free != nullptr) return next.free(pointer);
  if (pointer != nullptr && early_count < early.size()) early[early_count++] = pointer;
}

void drop(void* pointer, std::align_val_t alignment) {
  if (Adoption::contains(pointer)) return Adoption::instance().give(pointer);
  if (next.drop != nullptr) return next.drop(pointer, alignment);
  free_next(pointer);
}

void* take(std::size_t bytes, std::align_val_t alignment) {
  bool const is_candidate = bytes >= Adoption::least_bytes && alignment == adopted_alignment;
  return is_candidate ? Adoption::instance().take(bytes) : nullptr;
}

void* make_nothrow(std::size_t bytes, std::align_val_t alignment) noexcept {
  if (void* const memory = take(bytes, alignment)) return memory;
  // Found late where a module brought its C++ library with it.
  if (next.make_nothrow == nullptr)
    next.make_nothrow = reinterpret_cast<NewNothrow*>(
        Adopt::Objects::find_next("_ZnwmSt11align_val_tRKSt9nothrow_t", "libstdc++.so"));
  return next.make_nothrow != nullptr ? next.make_nothrow(bytes, alignment, std::nothrow) : nullptr;
}

__attribute__((constructor)) void start() {
  find(next.realloc, "realloc");
  find(next.usable, "malloc_usable_size");
  find(next.make, "_ZnwmSt11align_val_t");
  find(next.make_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t");
  find(next.drop, "_ZdlPvSt11align_val_t");
  find(next.free, "free");
  while (early_count > 0) free_next(early[--early_count]);
  Adoption::instance().start();
  if (!Adopt::settings().children) Adopt::leave_preload();
}

__attribute__((destructor)) void end() { Adoption::instance().write_report(); }

}  // namespace

extern "C" {

KHS_EXPORT void free(void* pointer) {
  if (__builtin_expect(!Adoption::contains(pointer), 1)) return free_next(pointer);
  int const error = errno;
  Adoption::instance().give(pointer);
  errno = error;
}

KHS_EXPORT void* realloc(void* pointer, std::size_t bytes) {
  if (__builtin_expect(!Adoption::contains(pointer), 1)) {
    if (next.realloc == nullptr) find(next.realloc, "realloc");
    return next.realloc(pointer, bytes);
  }
  std::size_t const old = Adoption::instance().bytes_of(pointer);
  void* const moved     = bytes > 0 ? std::malloc(bytes) : nullptr;
  if (moved == nullptr && bytes > 0) return nullptr;
  if (moved != nullptr) std::memcpy(moved, pointer, old < bytes ? old : bytes);
  Adoption::instance().give(pointer);
  return moved;
}

KHS_EXPORT std::size_t malloc_usable_size(void* pointer) {
  if (Adoption::contains(pointer)) return Adoption::instance().bytes_of(pointer);
  if (next.usable == nullptr) find(next.usable, "malloc_usable_size");
  return next.usable(pointer);
}

}  // extern "C"

KHS_EXPORT void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const memory = take(bytes, alignment)) return memory;
  if (next.make == nullptr)
    next.make =
        reinterpret_cast<New*>(Adopt::Objects::find_next("_ZnwmSt11align_val_t", "libstdc++.so"));
  if (next.make != nullptr) return next.make(bytes, alignment);
  throw std::bad_alloc();
}
KHS_EXPORT void* operator new(std::size_t bytes, std::align_val_t alignment,
                              std::nothrow_t const&) noexcept {
  return make_nothrow(bytes, alignment);
}
KHS_EXPORT void operator delete(void* p, std::align_val_t alignment) noexcept {
  drop(p, alignment);
}
KHS_EXPORT void operator delete(void* p, std::align_val_t alignment,
                                std::nothrow_t const&) noexcept {
  drop(p, alignment);
}
KHS_EXPORT void operator delete(void* p, std::size_t, std::align_val_t alignment) noexcept {
  drop(p, alignment);
}

namespace KokkosHostSpaces::Impl::Backend::Adopt {

char const* const memory_functions[] = {"_ZnwmSt11align_val_tRKSt9nothrow_t",
                                        "_ZnwmSt11align_val_t",
                                        "_ZdlPvSt11align_val_t",
                                        "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                        "_ZdlPvmSt11align_val_t",
                                        "free",
                                        "realloc",
                                        "malloc_usable_size",
                                        "cudaMemcpyAsync",
                                        nullptr};

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
