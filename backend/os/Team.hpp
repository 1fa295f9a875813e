// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_TEAM_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_TEAM_HPP

#include "Cores.hpp"

namespace KokkosHostSpaces::Impl::Backend {

/// A number of threads for a piece of work, and their cores.
struct Team {
  int threads       = 1;
  Cores cores       = {};    ///< of the new threads; none: any core
  bool caller_helps = true;  ///< the calling thread is one of them; it is never bound
};

/// Runs `work` once in each thread of a team and waits for all. If the system refuses threads, runs
/// it in fewer threads, among them the calling one. `work` must not throw.
void run(Team const& team, void (*work)(void*), void* argument);

template <class Work>
void run(Team const& team, Work& work) {
  run(
      team, [](void* argument) { (*static_cast<Work*>(argument))(); }, &work);
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
