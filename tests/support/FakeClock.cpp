// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Replaces what the C++ library asks for the time, and how it waits until one.

#include "FakeClock.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using std::chrono::nanoseconds;

constinit std::atomic<nanoseconds::rep> skipped{0};

nanoseconds system_time(clockid_t clock) {
  timespec now = {};
  syscall(SYS_clock_gettime, clock, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

nanoseconds skipped_by(clockid_t clock) {
  return nanoseconds(clock == CLOCK_MONOTONIC ? skipped.load() : 0);
}

timespec to_timespec(nanoseconds time) {
  constexpr nanoseconds::rep second = 1000000000;
  return {time.count() / second, time.count() % second};
}

}  // namespace

void FakeClock::skip(nanoseconds time) { skipped += time.count(); }

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  *now = to_timespec(system_time(clock) + skipped_by(clock));
  return 0;
}

// In pieces of a few milliseconds, since time may be skipped meanwhile.
extern "C" int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      clockid_t clock, timespec const* until) {
  using Function = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, timespec const*);
  static auto const original =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_cond_clockwait"));
  nanoseconds const end = std::chrono::seconds(until->tv_sec) + nanoseconds(until->tv_nsec);
  for (;;) {
    nanoseconds const now = system_time(clock), left = end - now - skipped_by(clock);
    if (left <= nanoseconds(0)) return ETIMEDOUT;
    timespec const soon =
        to_timespec(now + std::min<nanoseconds>(left, std::chrono::milliseconds(5)));
    int const result = original(condition, mutex, clock, &soon);
    if (result != ETIMEDOUT) return result;
  }
}
