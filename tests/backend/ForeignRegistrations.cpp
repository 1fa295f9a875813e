// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that other code registers, as MPI libraries do behind the user's back (UCX), on the fake
// runtime and on the real one.

#include "../../backend/cuda/Runtime.hpp"
#include "../support/Addresses.hpp"
#include "../support/DeviceWork.hpp"
#include "BackendTest.hpp"

namespace {

struct TwelvePages : TestPages {
  TwelvePages() : TestPages((start_test(1), 12)) {}
  std::size_t const page = page_bytes();
};

bool others_register(char* pointer, std::size_t bytes) {
  cudaError_t const error = cudaHostRegister(pointer, bytes, cudaHostRegisterDefault);
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

bool others_unregister(char* pointer) {
  cudaError_t const error = cudaHostUnregister(pointer);
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

std::string text_of(void const* pointer) {
  return "[0x" + [&] {
    char text[32];
    std::snprintf(text, sizeof text, "%zx", reinterpret_cast<std::size_t>(pointer));
    return std::string(text);
  }();
}

void check_refused(char* pointer, std::size_t bytes) {
  CHECK_THROWS_MATCHES(
      register_range(pointer, bytes, "ours"), RegistrationError,
      MessageMatches(ContainsSubstring("'ours'") && ContainsSubstring(text_of(pointer)) &&
                     ContainsSubstring("page-locked already") &&
                     !ContainsSubstring("RLIMIT_MEMLOCK")));
  CHECK(registered_ranges() == 0);
}

}  // namespace

TEST_CASE("a range of which others have registered all or a part is refused, and theirs stays") {
  TwelvePages const pages;
  std::size_t const page = pages.page;
  char* const theirs     = pages.begin + 4 * page;
  REQUIRE(others_register(theirs, 4 * page));
  check_refused(theirs, 4 * page);             // the same
  check_refused(theirs + page, 2 * page);      // within
  check_refused(pages.begin, 12 * page);       // around
  check_refused(theirs - 2 * page, 4 * page);  // its beginning
  check_refused(theirs + 2 * page, 4 * page);  // its end
  for (int i = 0; i < 4; ++i) CHECK(is_locked(theirs + i * page));
  CHECK_FALSE(is_locked(theirs - page));
  CHECK_FALSE(is_locked(theirs + 4 * page));
  CHECK(others_unregister(theirs));
  register_range(pages.begin, 12 * page, "ours");
  CHECK(unregister_range(pages.begin).empty());
}

TEST_CASE("the registrations of others beside ours stay when ours end") {
  TwelvePages const pages;
  std::size_t const page = pages.page;
  REQUIRE(others_register(pages.begin, 4 * page));
  register_range(pages.begin + 4 * page, 4 * page, "ours");
  REQUIRE(others_register(pages.begin + 8 * page, 4 * page));
  CHECK(unregister_range(pages.begin + 4 * page).empty());
  CHECK_FALSE(is_locked(pages.begin + 4 * page));
  CHECK(is_locked(pages.begin));
  CHECK(is_locked(pages.begin + 8 * page));
  CHECK(others_unregister(pages.begin));
  CHECK(others_unregister(pages.begin + 8 * page));
}

TEST_CASE("a range that others have unregistered is told, and what they registered since stays") {
  TwelvePages const pages;
  std::size_t const page = pages.page;
  char* const ours       = pages.begin + 4 * page;
  register_range(ours, 4 * page, "ours");
  REQUIRE(others_unregister(ours));
  bool const around = others_register(pages.begin, 12 * page);
  CHECK_THAT(unregister_range(ours), ContainsSubstring("'ours'") &&
                                         ContainsSubstring(text_of(ours)) &&
                                         ContainsSubstring("nobody else unregistered it"));
  CHECK(registered_ranges() == 0);
  REQUIRE(around);
  CHECK(is_locked(ours));
  CHECK(others_unregister(pages.begin));
}

TEST_CASE("where others have registered a part behind the first piece, that piece is undone") {
  TwelvePages const pages;
  std::size_t const page = pages.page;
  Addresses const all(2 * Driver::largest_chunk);
  char* const second = all.begin() + Driver::to_chunk_end(all.begin());
  REQUIRE(others_register(second + page, page));
  check_refused(second - 2 * page, 4 * page);
  CHECK_FALSE(is_locked(second - page));
  CHECK_FALSE(is_locked(second));
  CHECK(is_locked(second + page));
  CHECK(others_unregister(second + page));
}
