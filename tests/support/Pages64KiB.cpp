// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Makes the executable believe in pages of 64 KiB, as on Grace: replaces sysconf, mmap and mincore.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr long page = 64 * 1024;

void* system_mmap(void* address, std::size_t bytes, int access, int flags, int file, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, access, flags, file, offset));
}

}  // namespace

extern "C" long sysconf(int name) noexcept {
  using Function             = long (*)(int);
  static auto const original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "sysconf"));
  if (name == _SC_PAGESIZE) return page;
  long const value = original(name);
  return name == _SC_PHYS_PAGES ? value * original(_SC_PAGESIZE) / page : value;
}

// Begins at a multiple of the page.
extern "C" void* mmap(void* address, std::size_t bytes, int access, int flags, int file,
                      off_t offset) noexcept {
  if (address != nullptr || (flags & MAP_ANONYMOUS) == 0 || bytes == 0)
    return system_mmap(address, bytes, access, flags, file, offset);
  bytes             = (bytes + page - 1) / page * page;
  void* const pages = system_mmap(nullptr, bytes + page, access, flags, file, offset);
  if (pages == MAP_FAILED) return pages;
  auto const begin = reinterpret_cast<std::uintptr_t>(pages);
  auto const kept  = (begin + page - 1) / page * page;
  if (kept > begin) munmap(pages, kept - begin);
  munmap(reinterpret_cast<void*>(kept + bytes), begin + page - kept);
  return reinterpret_cast<void*>(kept);
}

// Tells of a page that it is there if all its parts are.
extern "C" int mincore(void* address, std::size_t bytes, unsigned char* resident) noexcept {
  constexpr std::size_t parts = 16;
  std::size_t const pages     = (bytes + page - 1) / page;
  std::vector<unsigned char> small(pages * parts, 0);
  long const result = syscall(SYS_mincore, address, bytes, small.data());
  for (std::size_t i = 0; result == 0 && i < pages; ++i) {
    auto const begin = small.begin() + static_cast<std::ptrdiff_t>(i * parts);
    resident[i] =
        std::all_of(begin, begin + parts, [](unsigned char part) { return (part & 1) != 0; });
  }
  return static_cast<int>(result);
}
