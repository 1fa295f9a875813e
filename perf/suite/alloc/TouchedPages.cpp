// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "AllocBaseline.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void touch(char volatile* begin, char volatile* end) {
  for (std::size_t const page = page_bytes(); begin < end; begin += page) *begin = 0;
}

void touch_by_threads(char* pointer, std::size_t bytes) {
  unsigned const most    = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  std::size_t const part = (bytes / most + huge_page - 1) / huge_page * huge_page;
  std::vector<std::jthread> threads;
  for (std::size_t begin = part; begin < bytes; begin += part)
    threads.emplace_back(touch, pointer + begin, pointer + std::min(begin + part, bytes));
  touch(pointer, pointer + std::min(part, bytes));
}

}  // namespace

std::size_t whole_pages(std::size_t bytes) {
  std::size_t const page = bytes < huge_page ? page_bytes() : huge_page;
  return (bytes + page - 1) / page * page;
}

void* map_and_touch(std::size_t bytes) {
  std::size_t const wanted = whole_pages(bytes);
  // Map more than needed, and unmap both ends, so that the block begins at a huge page.
  std::size_t const extra = wanted < huge_page ? 0 : huge_page;
  void* const mapped =
      mmap(nullptr, wanted + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* pointer = static_cast<char*>(mapped);
  if (extra > 0) {
    std::size_t const before =
        (huge_page - reinterpret_cast<std::uintptr_t>(mapped) % huge_page) % huge_page;
    if (before > 0) munmap(pointer, before);
    pointer += before;
    munmap(pointer + wanted, extra - before);
    (void)madvise(pointer, wanted, MADV_HUGEPAGE);  // fails without huge pages
  }
  touch_by_threads(pointer, wanted);
  return pointer;
}

void unmap(void* pointer, std::size_t bytes) { munmap(pointer, whole_pages(bytes)); }

}  // namespace KokkosHostSpaces::Perf
