// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Fork.hpp"

#include <atomic>

#include <pthread.h>

namespace KokkosHostSpaces::Impl {

namespace {

std::atomic<bool> forked{false};

extern "C" void khs_mark_forked_child() { forked.store(true); }

}  // namespace

// A fork handler instead of getpid(): this is asked at every deallocation, and getpid is a system
// call.
bool is_forked_child() noexcept {
  static bool const watching = pthread_atfork(nullptr, nullptr, &khs_mark_forked_child) == 0;
  return watching && forked.load(std::memory_order_relaxed);
}

}  // namespace KokkosHostSpaces::Impl
