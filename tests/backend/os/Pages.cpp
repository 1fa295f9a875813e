// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/guard/Protection.hpp"
#include "../BackendTest.hpp"

#include <csignal>

#include <sys/resource.h>

namespace {

std::size_t resident_pages(void* pointer, std::size_t bytes) {
  std::vector<unsigned char> resident(bytes / page_bytes());
  REQUIRE(mincore(pointer, bytes, resident.data()) == 0);
  return static_cast<std::size_t>(std::count_if(resident.begin(), resident.end(),
                                                [](unsigned char r) { return (r & 1) != 0; }));
}

}  // namespace

TEST_CASE("more pages than the machine can have are refused, although the system may overcommit") {
  CHECK(most_memory() >= std::size_t(64) << 20);
  CHECK(map_pages(most_memory() / page_bytes() * page_bytes() + page_bytes()) == nullptr);
  CHECK(map_pages(std::size_t(1) << 60) == nullptr);
}

TEST_CASE("pages that cannot be unmapped, at the limit of mappings, give their memory back") {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  SKIP("a sanitizer needs mappings of its own");
#endif
  int const status = ChildOfFork::status([] {
    std::size_t const bytes = 2 * huge_page_bytes, others = std::size_t(1) << 30;
    auto* const begin = static_cast<char*>(map_pages(3 * bytes));
    madvise(begin, 3 * bytes, MADV_NOHUGEPAGE);
    first_touch(begin, 3 * bytes, {1, Cores::allowed()});
    auto* const many = static_cast<char*>(
        mmap(nullptr, others, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    bool at_limit = false;
    for (std::size_t i = 0; i < others && !at_limit; i += 2 * page_bytes())
      at_limit = mprotect(many + i, page_bytes(), PROT_READ) != 0;
    if (!at_limit) return 4;
    unmap_pages(begin + bytes, bytes);
    unsigned char resident = 0;
    bool const is_left     = mincore(begin + bytes, page_bytes(), &resident) == 0;
    if (!is_left) return 5;
    return (resident & 1) == 0 && begin[0] == 0 ? 0 : 1;
  });
  if (status == 4) SKIP("this system allows more mappings");
  CHECK(status == 0);
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

TEST_CASE("the limit of locked memory is told as it is") {
  CHECK(ChildOfFork::status([] {
          rlimit limit = {};
          if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 2;
          limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 12345);
          if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 3;
          return locked_memory_limit() == std::to_string(limit.rlim_cur) + " bytes" ? 0 : 1;
        }) == 0);
}

namespace {

bool takes_none(char const*, bool) noexcept { return false; }

void touch_forbidden_page() {
  *static_cast<char volatile*>(
      mmap(nullptr, page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) = 1;
}

std::atomic<int> handled{0};
extern "C" void returns_at_once(int) {
  if (++handled > 3) _exit(3);
}
extern "C" void exits_with_7(int) { _exit(7); }

struct sigaction the_chained;
void chains(int number, siginfo_t* info, void* context) {
  if (++handled > 3) _exit(3);
  if ((the_chained.sa_flags & SA_SIGINFO) != 0)
    the_chained.sa_sigaction(number, info, context);
  else
    the_chained.sa_handler(number);
}

void handle_with(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler       = handler;
  action.sa_flags         = flags;
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace

TEST_CASE("a SIGSEGV that somebody sends ends the process, or is ignored, as without our handler") {
  auto const send = [](auto former, int times) {
    return ChildOfFork::status([&] {
      signal(SIGSEGV, former);
      handle_forbidden_accesses(&takes_none);
      for (int i = 0; i < times; ++i) raise(SIGSEGV);
      return 5;
    });
  };
  CHECK(send(SIG_DFL, 1) == ChildOfFork::crashed);
  CHECK(send(SIG_IGN, 2) == 5);
}

TEST_CASE("handlers in front of ours that chain to it hear of a fault once") {
  int const status = ChildOfFork::status([] {
    handle_with(&exits_with_7, 0);
    handle_forbidden_accesses(&takes_none);
    struct sigaction theirs = {};
    theirs.sa_sigaction     = &chains;
    theirs.sa_flags         = SA_SIGINFO;
    sigaction(SIGSEGV, &theirs, &the_chained);
    for (int i = 0; i < 20; ++i) {
      handle_forbidden_accesses(&takes_none);
      if (i % 2 == 0) sigaction(SIGSEGV, &theirs, nullptr);
    }
    touch_forbidden_page();
    return 0;
  });
  CHECK(status == 7);
}
