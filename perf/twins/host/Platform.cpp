// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Platform.hpp"

#include <unistd.h>

#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {

bool const twins_use_cuda = false;
#ifdef _OPENMP
char const* const twin_name = "a plain C++ loop with OpenMP";
#else
char const* const twin_name = "a plain C++ loop";
#endif
char const* const plain_allocation_name = "malloc and touch";

std::string why_no_device() { return ""; }

Device current_device() { return {}; }

void* allocate_plain(std::size_t bytes) {
  void* pointer = std::malloc(bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < bytes; i += page) static_cast<char volatile*>(pointer)[i] = 0;
  return pointer;
}

void free_plain(void* pointer) noexcept { std::free(pointer); }

bool is_page_locked(void const*) { return true; }

}  // namespace KokkosHostSpaces::Perf
