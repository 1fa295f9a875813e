// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The only place where this library starts threads (tests/layers.cmake checks it).

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_THREADS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_THREADS_HPP

#include <thread>
#include <utility>

#include <pthread.h>
#include <signal.h>

namespace KokkosHostSpaces::Impl::Backend {

/// Blocks signals in the calling thread while it lives, except those that a thread brings upon itself.
/// Threads that are started meanwhile keep them blocked: a signal to the process is then taken by a
/// thread of the application, which may have blocked it to wait for it.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ})
      sigdelset(&blocked, own);
    pthread_sigmask(SIG_BLOCK, &blocked, &m_before);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }
  SignalsBlocked(SignalsBlocked const&)            = delete;
  SignalsBlocked& operator=(SignalsBlocked const&) = delete;

 private:
  sigset_t m_before;
};

/// Starts a std::thread or std::jthread that leaves signals to the application.
/// \throw std::system_error
template <class Thread = std::thread, class Work>
Thread start_thread(Work&& work) {
  SignalsBlocked const blocked;
  return Thread(std::forward<Work>(work));
}

/// The same by pthread_create; false if the system refuses. \param attributes nullptr: the default ones
inline bool start_thread(pthread_t& thread, pthread_attr_t const* attributes, void* (*work)(void*),
                         void* argument) noexcept {
  SignalsBlocked const blocked;
  return pthread_create(&thread, attributes, work, argument) == 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
