// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Stands between an executable and the functions of the system that backend/ calls, so that FailNth can
// make them fail. The linker puts it there (CMakeLists.txt): calls of the C library itself pass by.

#include "FailNth.hpp"

#include <cerrno>
#include <cstddef>
#include <system_error>

#include <sys/mman.h>
#include <sys/types.h>

namespace {

bool fails(char const* function) {
  bool const result = FailNth::error_of(FailNth::Source::system, function) != 0;
  if (result) errno = EAGAIN;
  return result;
}

}  // namespace

// What a function returns when it fails, its parameters, and their names.
#define KHS_FAILING(Result, function, failure, parameters, names)  \
  extern "C" Result __real_##function parameters;                  \
  extern "C" Result __wrap_##function parameters {                 \
    return fails(#function) ? (failure) : __real_##function names; \
  }

// NOLINTBEGIN
KHS_FAILING(void*, mmap, MAP_FAILED, (void* a, std::size_t b, int c, int d, int e, off_t f),
            (a, b, c, d, e, f))
KHS_FAILING(int, munmap, -1, (void* a, std::size_t b), (a, b))
KHS_FAILING(int, mprotect, -1, (void* a, std::size_t b, int c), (a, b, c))
KHS_FAILING(int, madvise, -1, (void* a, std::size_t b, int c), (a, b, c))
KHS_FAILING(int, mincore, -1, (void* a, std::size_t b, unsigned char* c), (a, b, c))
KHS_FAILING(int, msync, -1, (void* a, std::size_t b, int c), (a, b, c))
KHS_FAILING(int, getrlimit, -1, (int a, void* b), (a, b))
KHS_FAILING(ssize_t, write, -1, (int a, void const* b, std::size_t c), (a, b, c))
KHS_FAILING(void*, opendir, nullptr, (char const* a), (a))
KHS_FAILING(int, sigaction, -1, (int a, void const* b, void* c), (a, b, c))
KHS_FAILING(int, sched_getaffinity, -1, (pid_t a, std::size_t b, void* c), (a, b, c))
KHS_FAILING(int, sched_setaffinity, -1, (pid_t a, std::size_t b, void const* c), (a, b, c))
KHS_FAILING(int, pthread_attr_init, EAGAIN, (void* a), (a))
KHS_FAILING(int, pthread_attr_setstack, EAGAIN, (void* a, void* b, std::size_t c), (a, b, c))
KHS_FAILING(int, pthread_create, EAGAIN, (void* a, void const* b, void* c, void* d), (a, b, c, d))
KHS_FAILING(void*, hwloc_bitmap_alloc, nullptr, (), ())
KHS_FAILING(void*, hwloc_bitmap_alloc_full, nullptr, (), ())
KHS_FAILING(int, hwloc_set_area_membind, -1,
            (void* a, void const* b, std::size_t c, void const* d, int e, int f),
            (a, b, c, d, e, f))
KHS_FAILING(int, hwloc_get_area_memlocation, -1,
            (void* a, void const* b, std::size_t c, void* d, int e), (a, b, c, d, e))
KHS_FAILING(int, hwloc_topology_init, -1, (void* a), (a))
KHS_FAILING(int, hwloc_topology_set_xmlbuffer, -1, (void* a, char const* b, int c), (a, b, c))
KHS_FAILING(int, hwloc_topology_load, -1, (void* a), (a))

// std::thread's constructor.
#define KHS_START_THREAD \
  _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
#define KHS_JOINED(a, b) a##b
#define KHS_JOIN(a, b) KHS_JOINED(a, b)
extern "C" void KHS_JOIN(__real_, KHS_START_THREAD)(void* thread, void* state, void (*depends)());
extern "C" void KHS_JOIN(__wrap_, KHS_START_THREAD)(void* thread, void* state, void (*depends)()) {
  if (fails("std::thread")) throw std::system_error(EAGAIN, std::generic_category(), "no thread");
  KHS_JOIN(__real_, KHS_START_THREAD)(thread, state, depends);
}
// NOLINTEND
