// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_AGREE_HPP
#define KOKKOS_HOST_SPACES_IMPL_AGREE_HPP

#include <KokkosHostSpaces/Error.hpp>

#include <exception>
#include <string>

#include <mpi.h>

namespace KokkosHostSpaces::Impl {

/// \throw Error if a call of MPI returned an error, as it does only where the error handler of the
/// communicator is MPI_ERRORS_RETURN
inline void check_mpi(int code, std::string const& what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length                      = 0;
  MPI_Error_string(code, text, &length);
  throw Error(what + " (MPI: " + text + "): see the error of MPI");
}

/// Makes the text that of rank `root`.
inline void broadcast(std::string& text, int root, MPI_Comm comm, std::string const& what) {
  int length = int(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, root, comm), what);
  text.resize(std::size_t(length));
  check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm), what);
}

/// Runs a step on each rank of a communicator, and ends when all have run it. Collective.
/// \throw Error on all ranks if the step threw on one: names the first such rank and what it threw
template <class Step>
void do_on_all(MPI_Comm comm, std::string const& what, Step const& step) {
  std::string problem;
  try {
    step();
  } catch (std::exception const& error) {
    problem = error.what();
    if (problem.empty()) problem = "an exception without words";
  } catch (...) {
    problem = "an exception that is no std::exception";
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int failed = problem.empty() ? size : rank;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm), what);
  if (failed == size) return;
  broadcast(problem, failed, comm, what);
  throw Error(what + " failed on rank " + std::to_string(failed) + " of " + std::to_string(size) +
              ": " + problem);
}

}  // namespace KokkosHostSpaces::Impl

#endif
