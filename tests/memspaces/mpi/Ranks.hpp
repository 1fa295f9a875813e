// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Cases that all ranks of an MPI program run.

#ifndef KOKKOS_HOST_SPACES_TESTS_RANKS_HPP
#define KOKKOS_HOST_SPACES_TESTS_RANKS_HPP

#include <KokkosHostSpaces/Error.hpp>

#include <string>
#include <vector>

#include <mpi.h>

namespace Ranks {

struct Case {
  char const* name;
  void (*run)();
};

/// The cases of the program, which each source adds to.
std::vector<Case>& cases();

struct AddCase {
  AddCase(char const* name, void (*run)()) { cases().push_back({name, run}); }
};

/// Counts a failure of this rank, and tells of it, if `right` is false.
void check(bool right, char const* condition, int line);

int rank(MPI_Comm comm = MPI_COMM_WORLD);
int size(MPI_Comm comm = MPI_COMM_WORLD);

/// What a call throws; empty if nothing.
template <class Call>
std::string thrown_by(Call const& call) {
  try {
    call();
  } catch (KokkosHostSpaces::Error const& error) {
    return error.what();
  }
  return {};
}

inline bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace Ranks

#define RANKS_CHECK(condition) Ranks::check(condition, #condition, __LINE__)

#endif
