// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the child of a fork finds of the parent's memory. With a device and without.

#include "pool/PoolTest.hpp"

namespace {

// Memory that holds 7. Something else of the child may be mapped at its address: ThreadSanitizer does.
bool child_has(void const* pointer, std::size_t bytes) {
  int const status = ChildOfFork::status(
      [&] { return is_mapped(pointer, bytes) && *static_cast<char const*>(pointer) == 7 ? 0 : 1; });
  REQUIRE(status < 2);
  return status == 0;
}

// That hold 7.
struct FourPages : TestPages {
  FourPages() : TestPages(4) { std::memset(begin, 7, bytes); }
};

}  // namespace

TEST_CASE("memory that was page-locked for a device is not in children, else they can read it") {
  start_test(1);
  std::size_t const bytes = GENERATE(std::size_t(1), huge_page_bytes);
  Region const region     = lock_fresh(bytes);
  std::memset(region.pointer, 7, region.bytes);
  bool const is_copied = Driver::device_count() == 0;
  CHECK(child_has(region.pointer, region.bytes) == is_copied);
  if (is_copied)
    CHECK(ChildOfFork::status([&] { return *static_cast<char*>(region.pointer); }) == 7);
  CHECK(give_back(region));
}

TEST_CASE("memory of others is in children, but while it is registered if that is not wanted") {
  start_test(1);
  FourPages const pages;
  bool const stays        = Driver::device_count() == 0;
  std::size_t const page  = page_bytes();
  std::size_t const inner = 2 * page;
  for (int round = 0; round < 2; ++round) {
    register_range(pages.begin + page, inner, "my data", true);
    CHECK(child_has(pages.begin + page, inner) == stays);
    CHECK(child_has(pages.begin, page));
    CHECK(child_has(pages.begin + 3 * page, page));
    CHECK(unregister_range(pages.begin + page).empty());
    CHECK(child_has(pages.begin, pages.bytes));
    register_range(pages.begin, pages.bytes, "my data");
    CHECK(child_has(pages.begin, pages.bytes));
    CHECK(unregister_range(pages.begin).empty());
  }
}

TEST_CASE("without a device the child of a fork allocates, from pools of its own") {
  PoolTest const test;
  if (Driver::presence() != Driver::Presence::none) SKIP("needs a machine without a device");
  char* const of_parent = PoolTest::allocate(1000, "parent's");
  of_parent[999]        = 7;
  auto const allocates  = [&] {
    bool const none = PoolTest::usage().segments == 0 && !pool::describe(of_parent);
    Pool::deallocate(of_parent);
    char* const small = PoolTest::allocate(100);
    char* const large = PoolTest::allocate(20 * MiB, "child's");
    std::memset(large, 1, 20 * MiB);
    Pool::reserve(4 * MiB).wait();
    pool::set_limit(64 * MiB);
    bool const own = pool::describe(large)->label == "child's" && of_parent[999] == 7 &&
                     PoolTest::usage().bytes_in_use >= 20 * MiB;
    Pool::deallocate(small);
    Pool::deallocate(large);
    return none && own && pool::trim(0) > 0 && PoolTest::usage().segments == 0;
  };
  CHECK(ChildOfFork::status([&] {
          bool const works = allocates();
          return works && ChildOfFork::status([&] { return allocates() ? 0 : 1; }) == 0 ? 0 : 1;
        }) == 0);
  CHECK(pool::describe(of_parent)->label == "parent's");
  Pool::deallocate(of_parent);
}
