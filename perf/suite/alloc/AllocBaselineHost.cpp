// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "AllocBaseline.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {
namespace {

void* malloc_and_touch(std::size_t bytes) {
  void* const pointer = std::malloc(bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < bytes; i += page) static_cast<char volatile*>(pointer)[i] = 0;
  return pointer;
}

}  // namespace

std::vector<AllocBaseline>& alloc_baselines() {
  static std::vector<AllocBaseline> baselines = {
      {.name     = "malloc_touch",
       .allocate = malloc_and_touch,
       .free     = [](void* pointer, std::size_t) { std::free(pointer); },
       .trim     = [] { malloc_trim(0); }},
      {"mmap_touch", map_and_touch, unmap}};
  return baselines;
}

}  // namespace KokkosHostSpaces::Perf
