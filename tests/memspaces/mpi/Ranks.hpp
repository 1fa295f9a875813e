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
/// The neighbours in a ring of all ranks.
inline int next() { return (rank() + 1) % size(); }
inline int previous() { return (rank() + size() - 1) % size(); }

/// Errors of MPI are returned during the lifetime, for messages on `comm`, too.
struct ErrorsReturn {
  MPI_Comm comm = MPI_COMM_NULL;
  // MPICH asks the handler of MPI_COMM_WORLD for errors of messages that are waited for.
  ErrorsReturn() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (MPI_Comm const of : {comm, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(of, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturn() {
    MPI_Barrier(comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
  }
  ErrorsReturn(ErrorsReturn const&)            = delete;
  ErrorsReturn& operator=(ErrorsReturn const&) = delete;
};

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

/// Does the text have all these words?
inline bool has(std::string const& text, auto const&... words) {
  return ((text.find(words) != std::string::npos) && ...);
}

}  // namespace Ranks

#define RANKS_CHECK(condition) Ranks::check(condition, #condition, __LINE__)

#endif
