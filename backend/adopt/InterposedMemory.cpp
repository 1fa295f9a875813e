// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The functions of the C++ and C libraries that this library interposes. The next ones are looked up when
// the library is loaded: never in `free`, which the look-up calls.

#include "Adoption.hpp"
#include "Objects.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <malloc.h>

#define KHS_EXPORT __attribute__((visibility("default")))

using namespace KokkosHostSpaces::Impl::Backend::Adopt;  // NOLINT

namespace {

template <class Function>
struct Next {
  char const* name;
  Function* function = nullptr;

  /// Looks again where a module brings its C++ library with it, and before this library has started.
  bool is_found() {
    if (function == nullptr)
      function = reinterpret_cast<Function*>(Objects::find_next(name, "libstdc++.so"));
    return function != nullptr;
  }
};
Next<void(void*)> next_free{"free"};
Next<void*(void*, std::size_t)> next_realloc{"realloc"};
Next<std::size_t(void*)> next_usable{"malloc_usable_size"};
Next<void*(std::size_t, std::align_val_t)> next_new{"_ZnwmSt11align_val_t"};
Next<void*(std::size_t, std::align_val_t, std::nothrow_t const&)> next_nothrow{
    "_ZnwmSt11align_val_tRKSt9nothrow_t"};
Next<void(void*, std::align_val_t)> next_delete{"_ZdlPvSt11align_val_t"};

void* early = nullptr;  // a list of what is freed before the next free is known

void free_next(void* pointer) {
  if (next_free.function != nullptr) return next_free.function(pointer);
  if (pointer != nullptr) *static_cast<void**>(pointer) = std::exchange(early, pointer);
}

void drop(void* pointer, std::align_val_t alignment) {
  if (Adoption::contains(pointer)) return Adoption::instance().give(pointer);
  if (next_delete.function != nullptr) return next_delete.function(pointer, alignment);
  free_next(pointer);
}

void* take(std::size_t bytes, std::align_val_t alignment) {
  bool const may = bytes >= granule && alignment == std::align_val_t(64);
  return may ? Adoption::instance().take(bytes) : nullptr;
}

__attribute__((constructor)) void start() {
  [](auto&... next) { (next.is_found(), ...); }(next_realloc, next_usable, next_new, next_nothrow,
                                                next_delete, next_free);
  while (early != nullptr) free_next(std::exchange(early, *static_cast<void**>(early)));
  Adoption::instance().start();
  if (!settings().children) leave_preload();
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
  if (__builtin_expect(!Adoption::contains(pointer), 1))
    return next_realloc.is_found() ? next_realloc.function(pointer, bytes) : nullptr;
  void* const moved = bytes > 0 ? std::malloc(bytes) : nullptr;
  if (moved == nullptr && bytes > 0) return nullptr;
  if (moved != nullptr)
    std::memcpy(moved, pointer, std::min(bytes, Adoption::instance().extent_of(pointer).size()));
  Adoption::instance().give(pointer);
  return moved;
}

KHS_EXPORT std::size_t malloc_usable_size(void* pointer) {
  if (Adoption::contains(pointer)) return Adoption::instance().extent_of(pointer).size();
  return next_usable.is_found() ? next_usable.function(pointer) : 0;
}

}  // extern "C"

KHS_EXPORT void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const memory = take(bytes, alignment)) return memory;
  if (next_new.is_found()) return next_new.function(bytes, alignment);
  throw std::bad_alloc();
}
KHS_EXPORT void* operator new(std::size_t bytes, std::align_val_t alignment,
                              std::nothrow_t const& nothrow) noexcept {
  if (void* const memory = take(bytes, alignment)) return memory;
  return next_nothrow.is_found() ? next_nothrow.function(bytes, alignment, nothrow) : nullptr;
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
