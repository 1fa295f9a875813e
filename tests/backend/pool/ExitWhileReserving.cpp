// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A process that ends while a thread of ours still reserves memory ends well, at whatever point, and the thread has
// stopped when exit destroys what was made before its first use, such as the CUDA runtime. Then blocks are given back, the
// settings are as before, and nothing can be reserved any more. Without an argument this program runs itself 100 times; with
// one it reserves memory and exits after as many microseconds.

#include "../../../backend/Config.hpp"
#include "../../../backend/Error.hpp"
#include "../../../backend/pool/Pool.hpp"
#include "../Device.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace {

constexpr int runs = 100, longest_us = 20000;

int exit_after(int microseconds) {
  using namespace KokkosHostSpaces;
  using namespace KokkosHostSpaces::Impl::Backend;
  // Too long to lie in the string itself.
  constexpr auto setting = "/a/file/that/nobody/makes/but/every/thread/may/ask/for";
  setenv("KOKKOS_HOST_SPACES_THRESHOLDS", setting, 1);
  static pool::Reservation const* reservation = nullptr;
  static void* block                          = nullptr;
  std::atexit([] {
    std::size_t const done = reservation->bytes_done();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (reservation->bytes_done() != done || config().thresholds != setting) std::_Exit(1);
    Pool::deallocate(block);
    auto const description = pool::describe(block);
    if (description && description->state == pool::State::in_use) std::_Exit(1);
    try {
      Pool::reserve(1);  // by a thread that does not end by itself
      std::_Exit(1);
    } catch (Error const&) {
    }
  });
  start_test(1);
  block       = Pool::allocate({1000, MemoryKind::page_locked, -1, "TestSpace", "of exit"});
  reservation = new pool::Reservation(
      Pool::reserve(std::size_t(64) << 20, MemoryKind::page_locked, -1, std::size_t(1) << 18));
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  std::exit(0);
}

bool ends_well(char* program, int microseconds) {
  std::string argument = std::to_string(microseconds);
  char* arguments[]    = {program, argument.data(), nullptr};
  pid_t child          = 0;
  int status           = -1;
  return posix_spawn(&child, program, nullptr, nullptr, arguments, environ) == 0 &&
         waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc > 1) return exit_after(std::atoi(argv[1]));
  std::minstd_rand random(1);
  int failed = 0;
  for (int i = 0; i < runs; ++i) {
    int const microseconds = int(random() % longest_us);
    if (ends_well(argv[0], microseconds)) continue;
    std::fprintf(stderr, "a process that exited after %d us did not end well\n", microseconds);
    ++failed;
  }
  return failed == 0 ? 0 : 1;
}
