// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/os/Mappings.hpp"
#include "../../backend/os/Pages.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

using namespace KokkosHostSpaces::Impl;

namespace {

std::size_t offset_in(void const* pointer, std::size_t unit) {
  return reinterpret_cast<std::uintptr_t>(pointer) % unit;
}

std::size_t resident_pages(void* pointer, std::size_t bytes) {
  std::vector<unsigned char> resident(bytes / page_bytes());
  REQUIRE(mincore(pointer, bytes, resident.data()) == 0);
  return static_cast<std::size_t>(std::count_if(resident.begin(), resident.end(),
                                                [](unsigned char r) { return (r & 1) != 0; }));
}

}  // namespace

TEST_CASE("pages are aligned: to pages, and to 2 MiB from 2 MiB on") {
  for (std::size_t const bytes : {page_bytes(), huge_page_bytes, 3 * huge_page_bytes}) {
    void* const pointer = map_pages(bytes);
    REQUIRE(pointer != nullptr);
    CHECK(offset_in(pointer, bytes < huge_page_bytes ? page_bytes() : huge_page_bytes) == 0);
    unmap_pages(pointer, bytes);
  }
}

TEST_CASE("unmapping leaves nothing mapped, though the mapping was trimmed to be aligned") {
  std::size_t const bytes = 2 * huge_page_bytes;
  void* const pointer     = map_pages(bytes);
  REQUIRE(pointer != nullptr);
  CHECK(inspect_range(pointer, bytes) == RangeState::writable);
  unmap_pages(pointer, bytes);
  CHECK(inspect_range(pointer, bytes) == RangeState::not_mapped);
}

TEST_CASE("more pages than the machine can have are refused, although the system may overcommit") {
  CHECK(most_memory() >= std::size_t(64) << 20);
  CHECK(map_pages(most_memory() / page_bytes() * page_bytes() + page_bytes()) == nullptr);
  CHECK(map_pages(std::size_t(1) << 60) == nullptr);
}

TEST_CASE("first touch faults every page in, by any number of threads, and leaves zeros") {
  int const threads       = GENERATE(1, 2, 3, 7, 64);
  std::size_t const bytes = GENERATE(std::size_t(1) << 16, (std::size_t(8) << 20) + 4096);
  CAPTURE(threads, bytes);
  void* const pointer = map_pages(bytes);
  REQUIRE(pointer != nullptr);
  madvise(pointer, bytes, MADV_NOHUGEPAGE);
  REQUIRE(resident_pages(pointer, bytes) == 0);
  first_touch(pointer, bytes, {threads, Cores::allowed()});
  CHECK(resident_pages(pointer, bytes) == bytes / page_bytes());
  auto const* const begin = static_cast<char const*>(pointer);
  CHECK(std::all_of(begin, begin + bytes, [](char c) { return c == 0; }));
  unmap_pages(pointer, bytes);
}

TEST_CASE("first touch leaves the affinity of the calling thread alone") {
  cpu_set_t before, after;
  REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof before, &before) == 0);
  void* const pointer = map_pages(huge_page_bytes);
  REQUIRE(pointer != nullptr);
  first_touch(pointer, huge_page_bytes, {1, Cores::allowed()});
  first_touch(pointer, huge_page_bytes, {2, Cores::allowed()});
  REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  unmap_pages(pointer, huge_page_bytes);
}

TEST_CASE("the limit of locked memory is told in words") {
  std::string const limit = locked_memory_limit();
  CHECK((limit == "unlimited" || limit.find(" bytes") != std::string::npos));
}
