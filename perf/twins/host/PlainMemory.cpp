// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../PlainMemory.hpp"
#include "../TouchedPages.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {
namespace {

void* allocate_by_malloc(std::size_t bytes) {
  void* pointer = std::malloc(bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < bytes; i += page) static_cast<char volatile*>(pointer)[i] = 0;
  return pointer;
}

void free_by_malloc(void* pointer, std::size_t) noexcept { std::free(pointer); }

}  // namespace

std::vector<PlainMemory> const& plain_memories() {
  static std::vector<PlainMemory> const all = {
      {"malloc_touch", "", false, allocate_by_malloc, free_by_malloc},
      {"mmap_touch", "", false, map_touched_pages, unmap_pages},
  };
  return all;
}

void trim_plain_memories() { malloc_trim(0); }

}  // namespace KokkosHostSpaces::Perf
