// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_WATCHED_THREAD_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_WATCHED_THREAD_HPP

#include <atomic>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

/// Waits until a thread of this process sleeps, as one does that waits for another, or has ended. One that waits for
/// moments only, as for a lock, is looked at again: it has to be asleep `in_a_row` times.
inline void wait_until_asleep(pid_t thread, int in_a_row = 100) {
  for (int looks = 0; looks < in_a_row; ++looks, std::this_thread::yield()) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    file.ignore(std::numeric_limits<std::streamsize>::max(), ')');
    char state = 'Z';
    if (!(file >> state) || state == 'Z') return;
    if (state != 'S') looks = 0;
  }
}

/// A thread whose sleep can be waited for.
class WatchedThread {
 public:
  template <class Work>
  explicit WatchedThread(Work work)
      : m_thread([this, work = std::move(work)] {
          m_id = gettid();
          m_id.notify_all();
          work();
        }) {}

  void wait_until_asleep() const {
    m_id.wait(0);
    ::wait_until_asleep(m_id);
  }
  void join() { m_thread.join(); }

 private:
  std::atomic<pid_t> m_id{0};
  std::jthread m_thread;  // last: it uses the above
};

#endif
