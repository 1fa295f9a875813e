// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_WAITING_HPP
#define KOKKOS_HOST_SPACES_TESTS_WAITING_HPP

#include <fstream>
#include <string>
#include <thread>

#include <unistd.h>

/// Returns when a thread of this process (its gettid()) waits for something, or has ended. One that waits for moments
/// only, as for a lock, is looked at again.
inline void until_it_waits(pid_t thread) {
  for (int looks = 0; looks < 100; ++looks) {
    std::string state;
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    if (!std::getline(file, state)) return;
    if (state.find(") S ") == std::string::npos) looks = 0;
    std::this_thread::yield();
  }
}

#endif
