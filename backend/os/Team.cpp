// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Team.hpp"

#include "Threads.hpp"

#include <cstddef>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

struct Job {
  void (*work)(void*);
  void* argument;
  Cores const& cores;
};

void* do_job(void* pointer) {
  auto& job = *static_cast<Job*>(pointer);
  // A new thread inherits the affinity of its creator, which may be a single core.
  job.cores.bind_this_thread();
  job.work(job.argument);
  return nullptr;
}

// The stacks of a team, in one mapping: to map one for each thread would wait for the page faults of
// threads that work already, which hold a lock of the address space while a huge page is cleared.
class Stacks {
 public:
  explicit Stacks(std::size_t threads)
      : m_bytes(threads * (least + one)),
        m_begin(mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
    if (m_begin != MAP_FAILED) (void)madvise(m_begin, m_bytes, MADV_NOHUGEPAGE);
  }
  ~Stacks() {
    if (m_begin != MAP_FAILED) munmap(m_begin, m_bytes);
  }
  Stacks(Stacks const&)            = delete;
  Stacks& operator=(Stacks const&) = delete;

  bool start(std::size_t i, pthread_t& thread, Job& job) const {
    return (m_begin != MAP_FAILED &&
            start_on(static_cast<char*>(m_begin) + i * (least + one) + least, thread, job)) ||
           // Thread-local variables of a program may not fit in a small stack.
           start_thread(thread, nullptr, &do_job, &job);
  }

 private:
  static constexpr std::size_t one = std::size_t(1) << 20;  // sanitizers need it
  // Room below it, because pthread_create succeeds if only the thread-local variables fit.
  static constexpr std::size_t least = std::size_t(1) << 18;

  static bool start_on(void* stack, pthread_t& thread, Job& job) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    bool const started = pthread_attr_setstack(&attributes, stack, one) == 0 &&
                         start_thread(thread, &attributes, &do_job, &job);
    pthread_attr_destroy(&attributes);
    return started;
  }

  std::size_t m_bytes;
  void* m_begin;
};

}  // namespace

void run(Team const& team, void (*work)(void*), void* argument) {
  int const wanted = team.threads - (team.caller_helps ? 1 : 0);
  std::vector<pthread_t> threads(static_cast<std::size_t>(wanted > 0 ? wanted : 0));
  Stacks const stacks(threads.size());
  Job job{work, argument, team.cores};
  std::size_t started = 0;
  while (started < threads.size() && stacks.start(started, threads[started], job)) ++started;
  if (team.caller_helps || started < threads.size()) work(argument);
  for (std::size_t i = 0; i < started; ++i) pthread_join(threads[i], nullptr);
}

}  // namespace KokkosHostSpaces::Impl::Backend
