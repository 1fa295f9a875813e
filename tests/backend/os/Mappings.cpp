// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../BackendTest.hpp"

#include <ctime>

namespace {

RangeState state(void const* pointer, std::size_t bytes) {
  return report_on_range(pointer, bytes).state;
}

}  // namespace

TEST_CASE("a range is read-only if any page of it is") {
  std::size_t const page = page_bytes();
  auto* const begin      = static_cast<char*>(map_pages(4 * page));
  REQUIRE(begin != nullptr);
  CHECK(state(begin, 4 * page) == RangeState::writable);
  CHECK(state(begin + 1, 1) == RangeState::writable);

  REQUIRE(mprotect(begin + 2 * page, page, PROT_READ) == 0);
  CHECK(state(begin, 4 * page) == RangeState::read_only);
  CHECK(state(begin, 2 * page) == RangeState::writable);
  CHECK(state(begin + 3 * page - 1, 1) == RangeState::read_only);

  unmap_pages(begin, 4 * page);
}

TEST_CASE("a range with a hole is not mapped") {
  std::size_t const page  = page_bytes();
  std::size_t const bytes = 2 * huge_page_bytes;
  auto* const begin       = static_cast<char*>(map_pages(bytes));
  REQUIRE(begin != nullptr);
  // A hole so large that nobody fills it meanwhile.
  unmap_pages(begin + page, bytes - 2 * page);
  CHECK(state(begin, page) == RangeState::writable);
  CHECK(state(begin, bytes) == RangeState::not_mapped);
  CHECK(state(begin + page, bytes - page) == RangeState::not_mapped);
  CHECK(is_mapped(begin, page));
  CHECK(is_mapped(begin + page - 1, 1));
  CHECK_FALSE(is_mapped(begin, bytes));
  CHECK_FALSE(is_mapped(begin + page - 1, 2));
  unmap_pages(begin, page);
  unmap_pages(begin + bytes - page, page);
}

TEST_CASE("among tens of thousands of mappings a range is found soon") {
  std::size_t const page = page_bytes(), count = 40000;
  std::size_t const bytes = count * page;
  auto* const begin       = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  REQUIRE(begin != MAP_FAILED);
  bool split = true;
  for (std::size_t i = 0; i < count && split; i += 2)
    split = mprotect(begin + i * page, page, PROT_READ) == 0;
  // Of the processor: others may keep it busy.
  auto const seconds = [&] {
    std::clock_t const start = std::clock();
    for (int i = 0; i < 3; ++i)
      CHECK(state(begin + (count - 1) * page, page) == RangeState::writable);
    return double(std::clock() - start) / CLOCKS_PER_SEC / 3;
  };
  if (split) {
#ifdef __SANITIZE_THREAD__
    munmap(begin, bytes);
    SKIP("ThreadSanitizer makes reading the list slower: the bound holds for what users run");
#endif
    CHECK(seconds() < 0.25);
  }
  munmap(begin, bytes);
  if (!split) SKIP("this system does not allow so many mappings");
}
