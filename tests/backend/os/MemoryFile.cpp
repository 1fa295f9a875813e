// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/guard/Protection.hpp"
#include "../../../backend/os/MemoryFile.hpp"
#include "../BackendTest.hpp"

#include <sys/resource.h>

TEST_CASE(
    "what one mapping of a memory file writes, another one reads, also when the file is closed") {
  std::size_t const bytes = 3 * huge_page_bytes + page_bytes();
  char* first             = nullptr;
  char* second            = nullptr;
  {
    MemoryFile const made(bytes);
    MemoryFile const opened(made.address());
    first  = static_cast<char*>(made.map(bytes));
    second = static_cast<char*>(opened.map(bytes));
  }
  fault_in(first, bytes);
  first[bytes - 1] = 7;
  CHECK(second[bytes - 1] == 7);
  CHECK(second[0] == 0);
  CHECK(protect_pages(second, bytes, PageAccess::read));
  unmap_pages(first, bytes);
  unmap_pages(second, bytes);
}

TEST_CASE("another file at the address of a memory file is not taken for it") {
  MemoryFile const made(page_bytes()), other(page_bytes());
  MemoryFileAddress address = made.address();
  address.descriptor        = other.address().descriptor;
  CHECK_THROWS_MATCHES(MemoryFile(address), Error,
                       MessageMatches(ContainsSubstring("is not the memory file")));
  address.descriptor = 1 << 20;
  CHECK_THROWS_MATCHES(MemoryFile(address), Error,
                       MessageMatches(ContainsSubstring("cannot be opened")));
}

TEST_CASE("a memory file that the system refuses is told with the remedy") {
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const little = {page_bytes(), before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  CHECK_THROWS_MATCHES(MemoryFile(2 * page_bytes()), Error,
                       MessageMatches(ContainsSubstring("raise ulimit -f")));
  setrlimit(RLIMIT_FSIZE, &before);
}

TEST_CASE("a process that has too many files open is told so") {
  MemoryFile const made(page_bytes());
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit const none = {0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  auto const remedy = MessageMatches(ContainsSubstring("raise ulimit -n"));
  CHECK_THROWS_MATCHES(MemoryFile(page_bytes()), Error, remedy);
  CHECK_THROWS_MATCHES(MemoryFile(made.address()), Error, remedy);
  setrlimit(RLIMIT_NOFILE, &before);
}
