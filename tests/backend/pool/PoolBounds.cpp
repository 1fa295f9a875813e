// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The memory that the pool locks is bounded beside a device that is always busy.

#include "../../support/DeviceWork.hpp"
#include "PoolTest.hpp"

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

// Keeps a device busy: each piece of work ends when the next one is submitted, or soon if
// a thread that gives memory back keeps the driver from taking any.
class NeverIdle {
 public:
  NeverIdle()
      : m_thread([this](std::stop_token const& stop) {
          for (int i = 0; !stop.stop_requested(); ++i) {
            m_streams[i % 2].run([submitted = m_submitted, i] {
              auto const latest = Clock::now() + milliseconds(10);
              while (*submitted < i + 2 && Clock::now() < latest)
                std::this_thread::sleep_for(microseconds(50));
            });
            ++*m_submitted;
            std::this_thread::sleep_for(milliseconds(1));
          }
        }) {
    while (*m_submitted == 0) std::this_thread::yield();
  }

 private:
  std::shared_ptr<std::atomic<int>> m_submitted = std::make_shared<std::atomic<int>>(0);
  DeviceWork::Stream m_streams[2];
  std::jthread m_thread;
};

}  // namespace

TEST_CASE("failure 3: ever larger requests beside a device that is never idle do not pile up") {
  PoolTest const test(1);
  NeverIdle const device;
  Watched watched;
  bool const one_at_a_time = GENERATE(true, false);
  char* field              = watched.allocate(16 * MiB);
  for (std::size_t bytes = 16 * MiB; bytes < 36 * MiB; bytes += MiB / 4) {
    if (one_at_a_time) watched.deallocate(field);
    char* const larger = watched.allocate_beside_work(bytes);
    if (!one_at_a_time) watched.deallocate(field);
    field = larger;
  }
  CAPTURE(watched.needed() / MiB, watched.locked() / MiB);
  CHECK(watched.excess() == 0);
  watched.deallocate(field);
}
