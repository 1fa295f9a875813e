// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What tests of backend/ include.

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_TEST_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_TEST_HPP

#include "../../backend/Driver.hpp"
#include "../../backend/Error.hpp"
#include "../../backend/PageLock.hpp"
#include "../../backend/Registry.hpp"
#include "../../backend/os/Mappings.hpp"
#include "../../backend/os/Pages.hpp"
#include "../support/ChildOfFork.hpp"
#include "../support/Sanitized.hpp"
#include "Device.hpp"
#include "../support/Tests.hpp"

#include <sys/mman.h>
#include <unistd.h>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl::Backend;

inline constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// Pages of the user, until the end of the scope.
class TestPages {
 public:
  explicit TestPages(std::size_t count)
      : bytes(count * page_bytes()), begin(static_cast<char*>(map_pages(bytes))) {
    REQUIRE(begin != nullptr);
  }
  ~TestPages() { unmap_pages(begin, bytes); }
  TestPages(TestPages const&)            = delete;
  TestPages& operator=(TestPages const&) = delete;

  std::size_t const bytes;
  char* const begin;
};

// True for host memory that the runtime has locked, or allocated locked.
inline bool is_locked(void const* pointer) {
  Driver::Extent const extent = Driver::extent_of(pointer);
  return extent.device < 0 && extent.begin != nullptr;
}

/// Of no NUMA node.
inline Region lock_fresh(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked) {
  return lock_fresh_pages(bytes, kind, -1);
}

/// Calls `work(i)` for each i below `count` in a thread of its own, and returns when all have ended.
template <class Work>
void in_threads(int count, Work const& work) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
}

/// What the Error says that `work` throws; empty if it throws none.
template <class Work>
std::string refusal_of(Work const& work) {
  try {
    work();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

#endif
