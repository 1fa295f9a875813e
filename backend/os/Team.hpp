// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_TEAM_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_TEAM_HPP

#include "Cores.hpp"

namespace KokkosHostSpaces::Impl::Backend {

/// How many threads share a piece of work, and where they run.
struct Team {
  int threads       = 1;
  Cores cores       = {};    ///< for the new threads; none: where the system likes
  bool caller_helps = true;  ///< the calling thread is one of them; it is never bound
};

/// Runs `work` once in each thread of a team, which begins as soon as it is there, and waits for
/// them. Where the system refuses threads there are fewer; the calling thread helps if there would
/// be none. `work` must not throw.
void run(Team const& team, void (*work)(void*), void* argument);

template <class Work>
void run(Team const& team, Work& work) {
  run(
      team, [](void* argument) { (*static_cast<Work*>(argument))(); }, &work);
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
