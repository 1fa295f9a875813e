// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Pages.hpp"

#include "MemoryLimit.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <limits>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

std::uintptr_t address_of(void const* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t rounded_up(std::size_t bytes, std::size_t page) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  return bytes > most - page ? most / page * page : (bytes + page - 1) / page * page;
}

bool system_has_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(file, modes);  // without the file, madvise decides
  return modes.find("[never]") == std::string::npos;
}

// Faults in a huge page, or less, by writing to it: for 4 GiB, 16 threads take 70 ms, with
// MADV_POPULATE_WRITE 450 to 1200 ms.
void touch(char* begin, std::size_t bytes) {
  auto const touch_page = [](char* page) { *const_cast<char volatile*>(page) = 0; };
  touch_page(begin);
  // The last small page is resident if the first write got a huge page.
  unsigned char resident = 0;
  std::size_t const page = page_bytes();
  if (mincore(begin + bytes - page, page, &resident) == 0 && (resident & 1) != 0) return;
  for (std::size_t offset = page; offset < bytes; offset += page) touch_page(begin + offset);
}

// Unmaps the parts before and behind `kept`.
void trim(char* begin, std::size_t bytes, char* kept, std::size_t kept_bytes) {
  char* const kept_end = kept + kept_bytes;
  if (kept > begin) munmap(begin, std::size_t(kept - begin));
  if (begin + bytes > kept_end) munmap(kept_end, std::size_t(begin + bytes - kept_end));
}

char* next_multiple(char* pointer, std::size_t of) {
  return pointer + (of - address_of(pointer) % of) % of;
}

// PROT_NONE addresses count towards no limit of memory; the system accounts for them when they become
// writable.
char* reserve_addresses(std::size_t bytes) {
  void* const begin = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return begin == MAP_FAILED ? nullptr : static_cast<char*>(begin);
}

char* reserve_aligned(std::size_t bytes, std::size_t alignment) {
  std::size_t const all = bytes + alignment - page_bytes();
  char* const begin     = reserve_addresses(all);
  if (begin == nullptr) return nullptr;
  char* const kept = next_multiple(begin, alignment);
  trim(begin, all, kept, bytes);
  return kept;
}

bool spans_windows(char* begin, std::size_t bytes) {
  return address_of(begin) / page_window != (address_of(begin) + bytes - 1) / page_window;
}

// Reserves twice the addresses and keeps the half that fits.
char* reserve_in_window(std::size_t bytes) {
  std::size_t const all = bytes + std::min(bytes, page_window) + huge_page_bytes;
  char* const begin     = reserve_addresses(all);
  if (begin == nullptr) return nullptr;
  char* kept = next_multiple(begin, huge_page_bytes);
  if (spans_windows(kept, bytes)) kept = next_multiple(kept, page_window);
  trim(begin, all, kept, bytes);
  return kept;
}

template <class Resource>  // glibc has an enumeration in C++, others an int
std::string bytes_in_words(Resource resource) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " bytes";
}

}  // namespace

std::size_t page_bytes() noexcept {
  static auto const bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t physical_memory() noexcept {
  long const pages = sysconf(_SC_PHYS_PAGES);  // not positive if unknown
  return pages > 0 ? static_cast<std::size_t>(pages) * page_bytes() : SIZE_MAX;
}

std::size_t whole_pages(std::size_t bytes) noexcept {
  return std::max(rounded_up(bytes, page_bytes()), page_bytes());
}

std::size_t whole_huge_pages(std::size_t bytes) noexcept {
  std::size_t const huge = rounded_up(bytes, huge_page_bytes);
  return huge - bytes <= bytes / 16 ? huge : whole_pages(bytes);
}

std::size_t most_memory(std::string const& root) noexcept {
  constexpr std::size_t growth = 32;
  std::size_t const most       = std::min(physical_memory(), SIZE_MAX / 2 / growth) * growth;
  try {
    return std::min(most, memory_of_cgroups(root).limit);
  } catch (std::exception const&) {
    return most;
  }
}

bool exceeds_memory(std::size_t bytes) noexcept {
  static std::atomic<std::size_t> known{0};
  if (bytes <= known.load(std::memory_order_relaxed)) return false;
  known.store(most_memory());
  return bytes > known.load(std::memory_order_relaxed);
}

void* reserve_for_pages(std::size_t bytes) noexcept {
  char* const any =
      reserve_aligned(bytes, bytes >= huge_page_bytes ? huge_page_bytes : page_bytes());
  if (any == nullptr || !spans_windows(any, bytes)) return any;
  char* const better = reserve_in_window(bytes);
  if (better == nullptr) return any;
  munmap(any, bytes);
  return better;
}

void* map_pages(std::size_t bytes) noexcept {
  if (exceeds_memory(bytes)) return nullptr;
  void* const pages = reserve_for_pages(bytes);
  if (pages == nullptr || mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0) return pages;
  munmap(pages, bytes);
  return nullptr;
}

// munmap in the middle of a mapping fails at the limit of mappings of a process.
void unmap_pages(void* pointer, std::size_t bytes) noexcept {
  if (munmap(pointer, bytes) != 0) madvise(pointer, bytes, MADV_DONTNEED);
}

bool use_huge_pages(void* pointer, std::size_t bytes) noexcept {
  static bool const available = system_has_huge_pages();
  return available && madvise(pointer, bytes, MADV_HUGEPAGE) == 0;
}

bool keep_from_children(void* pointer, std::size_t bytes) noexcept {
  return madvise(pointer, bytes, MADV_DONTFORK) == 0;
}

bool leave_to_children(void* pointer, std::size_t bytes) noexcept {
  return madvise(pointer, bytes, MADV_DOFORK) == 0;
}

void first_touch(void* pointer, std::size_t bytes, Team const& team) {
  auto* const begin = static_cast<char*>(pointer);
  // Threads take the next huge page from a counter: one on a busy core takes fewer.
  std::atomic<std::size_t> next{0};
  auto touch_in_turn = [&] {
    for (std::size_t i; (i = next.fetch_add(huge_page_bytes)) < bytes;)
      touch(begin + i, std::min(huge_page_bytes, bytes - i));
  };
  run(team, touch_in_turn);
}

std::string locked_memory_limit() { return bytes_in_words(RLIMIT_MEMLOCK); }

std::string raise_limit_of_addresses() {
  return bytes_in_words(RLIMIT_AS).ends_with("bytes") ? "raise ulimit -v" : "";
}

std::string raise_limit_of_locked() {
  return locked_memory_limit().ends_with("bytes") ? "raise ulimit -l" : "";
}

std::string raise_limit_of_groups(std::size_t bytes) {
  return bytes > memory_of_cgroups().limit ? "raise the memory limit of the job or container" : "";
}

std::string more_than_can_be(std::size_t bytes) {
  std::size_t const limit = memory_of_cgroups().limit;
  return bytes > limit
             ? "that is more than the control group may have, " + std::to_string(limit) + " bytes"
             : "that is more than this machine can have";
}

}  // namespace KokkosHostSpaces::Impl::Backend
