// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAKE_CLOCK_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAKE_CLOCK_HPP

#include <chrono>

namespace FakeClock {

/// Lets time pass at once for std::chrono::steady_clock, and for threads that wait by it on a condition variable. In
/// executables that FakeClock.cpp is part of.
void skip(std::chrono::nanoseconds time);

}  // namespace FakeClock

#endif
