// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Macroscopic cross-sections of a material, from a table of microscopic ones that all ranks of a node share:
// one page-locked copy a node, which kernels of all ranks read in place.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/mpi/NodeShared.hpp>

#include <cstdio>

#include <mpi.h>

namespace khs = KokkosHostSpaces;

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Table  = khs::NodeShared<double**, Kokkos::LayoutLeft>;  // energy, nuclide

// What a library of nuclear data would hold.
KOKKOS_FUNCTION double cross_section(int energy, int nuclide) {
  return 1 + nuclide % 7 + energy % 1000;
}

// Particles of this rank look their energies up, at random, for all nuclides of the material.
struct LookUp {
  Table::view_type table;
  int rank;
  KOKKOS_FUNCTION void operator()(int particle, double& sum) const {
    auto const energies = unsigned(table.extent(0));
    int const energy    = int((unsigned(particle) * 2654435761u + unsigned(rank)) % energies);
    for (int nuclide = 0; nuclide < int(table.extent(1)); ++nuclide) sum += table(energy, nuclide);
  }
};

double right_sum(int particles, int rank, int energies, int nuclides) {
  double sum = 0;
  for (int particle = 0; particle < particles; ++particle) {
    int const energy =
        int((unsigned(particle) * 2654435761u + unsigned(rank)) % unsigned(energies));
    for (int nuclide = 0; nuclide < nuclides; ++nuclide) sum += cross_section(energy, nuclide);
  }
  return sum;
}

bool run(Example::Options const& options) {
  int const energies = int(options.size("energies")), nuclides = 20, particles = 10000;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // Each rank of the node fills a part.
  Table const table(MPI_COMM_WORLD, "cross sections", Kokkos::LayoutLeft(energies, nuclides),
                    [](auto const& view, int part, int parts) {
                      for (int j = part; j < int(view.extent(1)); j += parts)
                        for (int i = 0; i < int(view.extent(0)); ++i)
                          view(i, j) = cross_section(i, j);
                    });
  double sum = 0;
  Kokkos::parallel_reduce("look cross-sections up", Kokkos::RangePolicy<Device>(0, particles),
                          LookUp{table.view(), rank}, sum);

  std::printf("rank %d: its part of the table of %s is %s\n", rank,
              Example::bytes_text(table.view().span() * sizeof(double)).c_str(),
              Example::bytes_text(khs::pool::statistics().bytes_node_shared).c_str());
  double const right = right_sum(particles, rank, energies, nuclides);
  return std::abs(sum - right) <= 1e-12 * right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int const result = Example::run(argc, argv, {{"energies", "100K", "rows of the table"}}, run);
  MPI_Finalize();
  return result;
}
