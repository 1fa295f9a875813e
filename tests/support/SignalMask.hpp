// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_SIGNAL_MASK_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_SIGNAL_MASK_HPP

#include <pthread.h>
#include <signal.h>

/// True if the calling thread leaves signals to other threads, except those that it brings upon itself.
inline bool leaves_signals_to_others() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  bool all = true;
  for (int const to_process :
       {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGALRM, SIGCONT})
    all &= sigismember(&blocked, to_process) == 1;
  for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPIPE})
    all &= sigismember(&blocked, own) == 0;
  return all;
}

#endif
