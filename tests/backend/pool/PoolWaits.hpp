// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_POOL_WAITS_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_POOL_WAITS_HPP

#include "../../support/FakeClock.hpp"
#include "../../support/FakeCuda.hpp"

#include <chrono>
#include <cstddef>
#include <thread>

/// Does the pool wait for devices since this was made? Then it asks again and again.
class PoolWaits {
 public:
  bool operator()() const {
    constexpr std::size_t by_looking = 20;  // questions of an allocation that does not wait
    return questions() - m_before > by_looking;
  }

 private:
  static std::size_t questions() { return FakeCuda::calls("cuEventQuery"); }

  std::size_t m_before = questions();
};

/// Lets minutes pass in a second, until the end of the scope.
class TimePasses {
 public:
  TimePasses()
      : m_thread([](std::stop_token const& stop) {
          while (!stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            FakeClock::skip(std::chrono::milliseconds(200));
          }
        }) {}

 private:
  std::jthread m_thread;
};

#endif
