// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Processes.hpp"

#ifdef HEAT_WITH_MPI
#include <mpi.h>
#endif

#include <cstdlib>

namespace Heat {

#ifdef HEAT_WITH_MPI

// Errors of MPI itself need no checks: its default is to end all processes with a message.
Processes::Processes(int& argc, char**& argv) {
  int provided = 0;
  // Kokkos may have threads, but only the first one calls MPI.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
}

Processes::~Processes() { MPI_Finalize(); }

int Processes::rank() const {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int Processes::count() const {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

std::array<int, 3> Processes::grid(std::array<int, 3> wanted) const {
  int z_to_x[3] = {wanted[2], wanted[1], wanted[0]};  // what MPI chooses does not increase
  MPI_Dims_create(count(), 3, z_to_x);
  return {z_to_x[2], z_to_x[1], z_to_x[0]};
}

void Processes::barrier() const { MPI_Barrier(MPI_COMM_WORLD); }

double Processes::maximum(double value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

std::uint64_t Processes::sum(std::uint64_t value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

void Processes::abort(int exit_code) const {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();  // not reached, but MPI does not say so
}

#else

Processes::Processes(int&, char**&) {}
Processes::~Processes() = default;

int Processes::rank() const { return 0; }
int Processes::count() const { return 1; }
std::array<int, 3> Processes::grid(std::array<int, 3>) const { return {1, 1, 1}; }

void Processes::barrier() const {}
double Processes::maximum(double value) const { return value; }
std::uint64_t Processes::sum(std::uint64_t value) const { return value; }

void Processes::abort(int exit_code) const { std::exit(exit_code); }

#endif

}  // namespace Heat
