// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Runs all cases on all ranks, or the one that is named. Exits with 1 if a check failed on any rank.

#include "Ranks.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstring>
#include <exception>

namespace Ranks {

namespace {
int failures = 0;
}

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

void check(bool right, char const* condition, int line) {
  if (right) return;
  ++failures;
  std::fprintf(stderr, "rank %d, line %d: not so: %s\n", rank(), line, condition);
}

int rank(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

namespace {

// What one rank throws alone would leave the others waiting.
void run(Case const& of) {
  try {
    of.run();
  } catch (std::exception const& error) {
    std::fprintf(stderr, "rank %d: \"%s\" throws: %s\n", rank(), of.name, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int run_cases(char const* only) {
  for (Case const& of : cases())
    if (only == nullptr ? of.name[0] != '.' : std::strcmp(only, of.name) == 0) run(of);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return failures > 0 ? 1 : 0;
}

}  // namespace

}  // namespace Ranks

int main(int argc, char* argv[]) {
  int provided       = 0;
  bool const threads = argc > 1 && std::strncmp(argv[1], ".threads", 8) == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  int failed = 0;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    failed = Ranks::run_cases(argc > 1 ? argv[1] : nullptr);
  }
  MPI_Finalize();
  return failed;
}
