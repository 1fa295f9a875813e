// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Where fresh pages lie: the runtime copies no range of two registrations.

#include "../../../backend/cuda/Runtime.hpp"
#include "../../support/Addresses.hpp"
#include "../../support/FakeCuda.hpp"
#include "../BackendTest.hpp"
#include "AvailableMemory.hpp"

#include <sys/resource.h>

namespace {

// Takes addresses until the system maps large ranges across an end of a chunk, from above; across
// the next end below, if something else lies at that one.
class SpaceBelowChunkEnd {
 public:
  SpaceBelowChunkEnd() {
    need_addresses(2 * Driver::largest_chunk);
    do take_all_above_end();
    while (!is_next_range_across_end());
  }
  ~SpaceBelowChunkEnd() {
    for (auto const& [begin, bytes] : m_taken)
      if (bytes > 0) munmap(begin, bytes);
  }
  SpaceBelowChunkEnd(SpaceBelowChunkEnd const&)            = delete;
  SpaceBelowChunkEnd& operator=(SpaceBelowChunkEnd const&) = delete;

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

// While this lives, the system grants only this number of bytes of writable memory more.
class LimitOfWritable {
 public:
  explicit LimitOfWritable(std::size_t bytes) {
    REQUIRE(getrlimit(RLIMIT_DATA, &m_before) == 0);
    std::size_t const now = figure_in("/proc/self/status", "VmData:") * KiB;
    rlimit const limit    = {now + bytes, m_before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_DATA, &limit) == 0);
  }
  ~LimitOfWritable() { setrlimit(RLIMIT_DATA, &m_before); }
  LimitOfWritable(LimitOfWritable const&)            = delete;
  LimitOfWritable& operator=(LimitOfWritable const&) = delete;

 private:
  rlimit m_before = {};
};

bool spans_windows(char const* begin, std::size_t bytes) {
  return bytes > Driver::to_chunk_end(begin);
}

}  // namespace

TEST_CASE("pages of a mapping are locked in one piece, so that others can copy them at once") {
  FakeCuda::reset();
  SpaceBelowChunkEnd const space;
  std::size_t const bytes = 8 * huge_page_bytes;
  for (int i = 0; i < 3; ++i) {
    Region const region = lock_fresh(bytes);
    CHECK(FakeCuda::outstanding().registrations == 1);
    CHECK(reinterpret_cast<std::uintptr_t>(region.pointer) % huge_page_bytes == 0);
    CHECK(report_on_range(region.pointer, region.bytes).state == RangeState::writable);
    CHECK(give_back(region));
  }
}

TEST_CASE("pages lie in one window also where no more memory is granted than they need") {
  SpaceBelowChunkEnd const space;
  std::size_t const bytes = 8 * huge_page_bytes;
  LimitOfWritable const few(bytes + bytes / 2);
  auto* const pages = static_cast<char*>(map_pages(bytes));
  REQUIRE(pages != nullptr);
  CHECK_FALSE(spans_windows(pages, bytes));
  CHECK(map_pages(bytes) == nullptr);
  unmap_pages(pages, bytes);
}

TEST_CASE("a mapping as long as a window is one, and a longer one begins at one") {
  for (std::size_t const bytes : {page_window - page_bytes(), page_window - huge_page_bytes,
                                  page_window, page_window + page_bytes(), 3 * page_window}) {
    need_addresses(2 * (bytes + page_window));
    auto* const addresses = static_cast<char*>(reserve_for_pages(bytes));
    CAPTURE(bytes, static_cast<void*>(addresses));
    REQUIRE(addresses != nullptr);
    CHECK(spans_windows(addresses, bytes) == (bytes > page_window));
    if (bytes >= page_window) CHECK(Driver::to_chunk_end(addresses) == page_window);
    CHECK(Driver::to_chunk_end(addresses) % huge_page_bytes == 0);
    CHECK(is_mapped(addresses, bytes));
    unmap_pages(addresses, bytes);
    CHECK_FALSE(is_mapped(addresses, 1));
    CHECK_FALSE(is_mapped(addresses + bytes - page_bytes(), 1));
  }
}
