// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_POOL_WAITS_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_POOL_WAITS_HPP

#include "../../support/FakeClock.hpp"
#include "../../support/FakeCuda.hpp"

#include <chrono>
#include <cstddef>
#include <thread>

/// Does the pool wait for devices since this was made? Then it asks again and again, or waits in the driver.
class PoolWaits {
 public:
  bool operator()() const {
    constexpr std::size_t by_looking = 20;  // questions of an allocation that does not wait
    return questions() - m_before > by_looking || in_driver();
  }
  bool in_driver() const { return waits_in_driver() != m_waits_before; }

 private:
  static std::size_t questions() { return FakeCuda::calls("cuEventQuery"); }
  static std::size_t waits_in_driver() { return FakeCuda::calls("cuCtxSynchronize"); }

  std::size_t m_before = questions(), m_waits_before = waits_in_driver();
};

/// Lets up to so much time pass while the pool waits, until the end of the scope.
class TimePasses {
 public:
  explicit TimePasses(std::chrono::milliseconds most = std::chrono::seconds(2))
      : m_thread([left = most](std::stop_token const& stop) mutable {
          constexpr std::chrono::milliseconds step(100);
          for (PoolWaits waits; left >= step && !stop.stop_requested();) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            if (!waits()) continue;
            FakeClock::skip(step);
            left -= step;
            if (!waits.in_driver()) waits = PoolWaits();  // else it is the same wait
          }
        }) {}

 private:
  std::jthread m_thread;
};

#endif
