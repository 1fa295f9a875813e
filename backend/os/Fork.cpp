// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Fork.hpp"

#include <atomic>

#include <pthread.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

std::atomic<unsigned> forks{0};

extern "C" void khs_count_fork() { forks.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

// Uses a fork handler, because every deallocation asks, and getpid is a system call.
unsigned fork_generation() noexcept {
  static bool const watching = pthread_atfork(nullptr, nullptr, &khs_count_fork) == 0;
  return watching ? forks.load(std::memory_order_relaxed) : 0;
}

bool is_forked_child() noexcept { return fork_generation() > 0; }

}  // namespace KokkosHostSpaces::Impl::Backend
