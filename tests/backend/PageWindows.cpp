// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Where fresh pages lie: the runtime copies no range of two registrations.

#include "../../backend/Driver.hpp"
#include "../../backend/PageLock.hpp"
#include "../../backend/cuda/Chunks.hpp"
#include "../../backend/os/Mappings.hpp"
#include "../../backend/os/Pages.hpp"
#include "../support/FakeCuda.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <sys/mman.h>
#include <sys/resource.h>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl;

namespace {

// Takes addresses until the system maps large ranges across an end of a chunk, from above; across
// the next end below, if something else lies at that one.
class SpaceBelowChunkEnd {
 public:
  SpaceBelowChunkEnd() {
    do take_all_above_end();
    while (!is_next_range_across_end());
  }
  ~SpaceBelowChunkEnd() {
    for (auto const& [begin, bytes] : m_taken)
      if (bytes > 0) munmap(begin, bytes);
  }
  SpaceBelowChunkEnd(SpaceBelowChunkEnd const&)            = delete;
  SpaceBelowChunkEnd& operator=(SpaceBelowChunkEnd const&) = delete;
  char* end() const { return m_end; }

 private:
  void take_all_above_end() {
    char* const end_before = std::exchange(m_end, nullptr);
    for (std::size_t bytes = Driver::largest_chunk / 2; bytes >= smallest; bytes /= 2) {
      while (char* const begin = take(bytes)) {
        if (m_end == nullptr)
          m_end = end_before != nullptr
                      ? end_before - Driver::largest_chunk
                      : begin - reinterpret_cast<std::uintptr_t>(begin) % Driver::largest_chunk;
        m_taken.push_back({begin, bytes});
        if (begin >= m_end) continue;
        munmap(begin, bytes);
        m_taken.pop_back();
        break;
      }
    }
    // Some of what lies above the end, so that the next range lies on both sides.
    auto const lowest = std::min_element(m_taken.begin(), m_taken.end());
    munmap(lowest->first, smallest);
    lowest->first += smallest;
    lowest->second -= smallest;
  }

  bool is_next_range_across_end() const {
    char* const begin = take(2 * smallest);
    munmap(begin, 2 * smallest);
    return begin < m_end && begin + 2 * smallest > m_end;
  }

  static constexpr std::size_t smallest = 2 * huge_page_bytes;

  static char* take(std::size_t bytes) {
    void* const begin =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return begin == MAP_FAILED ? nullptr : static_cast<char*>(begin);
  }

  char* m_end = nullptr;
  std::vector<std::pair<char*, std::size_t>> m_taken;
};

// The system refuses to map more than this, as long as this lives.
class AddressesFor {
 public:
  explicit AddressesFor(std::size_t bytes) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    REQUIRE(getrlimit(RLIMIT_AS, &m_before) == 0);
    rlimit const now = {pages * page_bytes() + bytes, m_before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &now) == 0);
  }
  ~AddressesFor() { setrlimit(RLIMIT_AS, &m_before); }
  AddressesFor(AddressesFor const&)            = delete;
  AddressesFor& operator=(AddressesFor const&) = delete;

 private:
  rlimit m_before = {};
};

}  // namespace

TEST_CASE("pages of a mapping are locked in one piece, so that others can copy them at once") {
  FakeCuda::reset();
  SpaceBelowChunkEnd const space;
  std::size_t const bytes = 8 * huge_page_bytes;
  for (int i = 0; i < 3; ++i) {
    Region const region = lock_fresh_pages(bytes, MemoryKind::page_locked, -1);
    CHECK(FakeCuda::outstanding().registrations == 1);
    CHECK(reinterpret_cast<std::uintptr_t>(region.pointer) % huge_page_bytes == 0);
    CHECK(inspect_range(region.pointer, region.bytes) == RangeState::writable);
    CHECK(give_back(region));
  }
}

TEST_CASE("pages of which a piece stays locked stay mapped, and are told to be lost") {
  FakeCuda::reset();
  SpaceBelowChunkEnd const space;
  AddressesFor const few(14 * huge_page_bytes);  // so that they lie on both sides
  FakeCuda::fail_nth_call("cudaHostRegister", 2);
  FakeCuda::fail_nth_call("cudaHostUnregister", 1);
  std::size_t const bytes = 8 * huge_page_bytes;
  CHECK_THROWS_AS(lock_fresh_pages(bytes, MemoryKind::page_locked, -1), Driver::StillLocked);
  REQUIRE(FakeCuda::outstanding().registrations == 1);
  CHECK(is_mapped(space.end() - huge_page_bytes, 2 * huge_page_bytes));
}
