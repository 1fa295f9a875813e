// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "BackendTest.hpp"

#include <fcntl.h>

namespace {

// Refused with the label, the reason and advice, and nothing remembered.
void check_refused(void* pointer, std::size_t bytes, std::string const& why) {
  std::size_t const before = registered_ranges();
  CHECK_THROWS_MATCHES(register_range(pointer, bytes, "my data"), RegistrationError,
                       MessageMatches(ContainsSubstring("'my data'") && ContainsSubstring(why) &&
                                      ContainsSubstring("): ") &&
                                      ContainsSubstring(std::to_string(bytes) + " bytes")));
  CHECK(registered_ranges() == before);
}

}  // namespace

TEST_CASE(
    "a registered range is page-locked until it is unregistered, and can be registered again") {
  start_test(1);
  TestPages const pages(3);
  for (int round = 0; round < 2; ++round) {
    register_range(pages.begin + 100, pages.bytes - 200, "my data");
    CHECK(registered_ranges() == 1);
    bool const locked = is_locked(pages.begin + 100);
    CHECK(locked == (Driver::device_count() > 0));
    CHECK(unregister_range(pages.begin + 100).empty());
    CHECK(registered_ranges() == 0);
    CHECK_FALSE(is_locked(pages.begin + 100));
  }
}

TEST_CASE("an address is registered if it lies in a range, from its first byte to its last") {
  start_test(1);
  TestPages const pages(3);
  CHECK_FALSE(is_registered(pages.begin));
  register_range(pages.begin + 100, 1000, "my data");
  CHECK_FALSE(is_registered(nullptr));
  CHECK_FALSE(is_registered(pages.begin + 99));
  CHECK(is_registered(pages.begin + 100));
  CHECK(is_registered(pages.begin + 1099));
  CHECK_FALSE(is_registered(pages.begin + 1100));
  CHECK(unregister_range(pages.begin + 100).empty());
  CHECK_FALSE(is_registered(pages.begin + 100));
}

TEST_CASE("a null or empty range, or one beyond the address space, is refused") {
  start_test(1);
  TestPages const pages(1);
  check_refused(nullptr, 8, "null");
  check_refused(pages.begin, 0, "empty");
  check_refused(pages.begin, SIZE_MAX, "address space");
}

TEST_CASE("a range is refused if it overlaps with a registered one, and may share a page with it") {
  start_test(1);
  TestPages const pages(6);
  std::size_t const page = page_bytes();
  register_range(pages.begin + 2 * page, page + 10, "first");
  auto const refused = [&](std::size_t offset, std::size_t bytes) {
    CAPTURE(offset, bytes);
    check_refused(pages.begin + offset, bytes, "overlaps with 'first'");
  };
  refused(2 * page, page + 10);  // the same
  refused(2 * page + 8, 8);      // within
  refused(0, 6 * page);          // around
  refused(0, 2 * page + 1);      // its beginning
  refused(3 * page + 9, 10);     // its end
  register_range(pages.begin, 2 * page, "before");
  register_range(pages.begin + 3 * page + 10, 1, "behind, in the same page");
  CHECK(registered_ranges() == 3);
  CHECK(unregister_range(pages.begin).empty());
  CHECK(unregister_range(pages.begin + 2 * page).empty());
  CHECK(unregister_range(pages.begin + 3 * page + 10).empty());
}

TEST_CASE("the message on a read-only file tells its name, its kind and the remedy") {
  start_test(1);
  int const file         = open("/proc/self/exe", O_RDONLY);
  std::size_t const page = page_bytes();
  for (int const sharing : {MAP_PRIVATE, MAP_SHARED}) {
    void* const mapping = mmap(nullptr, page, PROT_READ, sharing, file, 0);
    REQUIRE(mapping != MAP_FAILED);
    check_refused(mapping, page, "MAP_PRIVATE");
    check_refused(mapping, page,
                  sharing == MAP_SHARED ? "shared mapping of the file /"
                                        : "a read-only mapping of the file /");
    munmap(mapping, page);
  }
  close(file);
}

TEST_CASE("unregistering tells what was never registered, or was before") {
  start_test(1);
  TestPages const pages(1);
  CHECK_THAT(unregister_range(pages.begin), ContainsSubstring("no registered range"));
  register_range(pages.begin + 8, 8, "my data");
  CHECK_THAT(unregister_range(pages.begin), ContainsSubstring("no registered range"));
  CHECK(unregister_range(pages.begin + 8).empty());
  CHECK_THAT(unregister_range(pages.begin + 8), ContainsSubstring("no registered range"));
}

TEST_CASE("of threads that register the same range at once, exactly one succeeds") {
  start_test(1);
  TestPages const pages(1);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> refused{0};
    in_threads(4, [&](int) {
      auto const why = refusal_of([&] { register_range(pages.begin, pages.bytes, "contended"); });
      refused += why.empty() ? 0 : 1;
    });
    CHECK(refused == 3);
    CHECK(unregister_range(pages.begin).empty());
  }
}

// Each child makes its registry anew, by whichever thread is first. They take minutes where the parent uses a GPU: then a
// few are enough.
TEST_CASE("threads of a forked child that register their first ranges at once lose none") {
  constexpr int threads = 4;
  TestPages const pages(threads);
  int lost           = 0;
  int const children = Driver::device_count() > 0 ? 15 : 40;
  for (int i = 0; i < children; ++i) {
    lost += ChildOfFork::status([&] {
      std::atomic<int> waiting{threads};
      in_threads(threads, [&](int thread) {
        for (--waiting; waiting > 0;) {
        }
        register_range(pages.begin + std::size_t(thread) * page_bytes(), page_bytes(), "own");
      });
      return registered_ranges() == threads ? 0 : 1;
    });
  }
  CHECK(lost == 0);
}
