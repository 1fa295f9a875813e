// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_CHILD_OF_FORK_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_CHILD_OF_FORK_HPP

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace ChildOfFork {

inline constexpr int hung = 98, crashed = 97;

/// The exit status of a forked child that does `work`: what `work` returns, or the reason above.
/// The fake CUDA runtime ends a child that calls it with 99.
template <class Work>
int status(Work work) {
  pid_t const child = fork();
  if (child < 0) throw std::runtime_error("this process cannot be forked");
  if (child == 0) {
    alarm(20);
    std::_Exit(work());
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("the child is lost");
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return WTERMSIG(status) == SIGALRM ? hung : crashed;
}

}  // namespace ChildOfFork

#endif
