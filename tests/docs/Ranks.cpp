// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The code of memspaces/docs/Ranks.md.

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/mpi/Exchange.hpp>
#include <KokkosHostSpaces/mpi/NodeShared.hpp>

#include <cstdio>
#include <vector>

#include <mpi.h>

namespace khs = KokkosHostSpaces;

namespace {

template <class View>
void read_table(View const& view) {
  view(2, 1) = 7;
}

bool tables_are_right(MPI_Comm comm) {
  int const energies = 3, nuclides = 2;
  khs::NodeShared<double**, Kokkos::LayoutLeft> const table(
      comm, "cross sections", Kokkos::LayoutLeft(energies, nuclides),
      [&](auto const& view) { read_table(view); });  // called on one rank of each node
  auto const sigma = table.view();  // View<double const**, LayoutLeft, MappedSpace>
  khs::NodeShared<double*> const squares(comm, "squares", Kokkos::LayoutRight(1000),
                                         [](auto const& view, int part, int parts) {
                                           for (int i = part; i < 1000; i += parts) view(i) = i * i;
                                         });
  return sigma(2, 1) == 7 && squares.view()(31) == 961;
}

bool halo_is_right(MPI_Comm comm, int rank, int size) {
  int const n = 4, left = rank > 0 ? rank - 1 : MPI_PROC_NULL,
            right      = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::DefaultExecutionSpace(),
                                                               std::vector<int>{1, 1});
  auto const &instance = instances[0], &other_instance = instances[1];
  Kokkos::View<double**> const field("field", n + 2, 5);
  Kokkos::deep_copy(instance, field, rank);
  auto const compute_inside = [](auto const&) {};
  auto const compute_border = [](auto const&) {};

  auto const first      = Kokkos::subview(field, 1, Kokkos::ALL),
             ghost      = Kokkos::subview(field, 0, Kokkos::ALL);
  auto const last       = Kokkos::subview(field, n, Kokkos::ALL);
  auto const last_ghost = Kokkos::subview(field, n + 1, Kokkos::ALL);
  auto halo =
      khs::exchange(instance, comm, khs::outgoing(first, left, 0), khs::incoming(ghost, left, 1),
                    khs::outgoing(last, right, 1), khs::incoming(last_ghost, right, 0));
  compute_inside(other_instance);
  halo.wait();
  compute_border(instance);  // ordered behind what has arrived

  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  return host(0, 3) == (rank > 0 ? rank - 1 : rank) &&
         host(n + 1, 3) == (rank + 1 < size ? rank + 1 : rank);
}

}  // namespace

int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1, right = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    bool const tables = tables_are_right(MPI_COMM_WORLD);
    right             = halo_is_right(MPI_COMM_WORLD, rank, size) && tables ? 1 : 0;
  }
  if (right == 0) std::fprintf(stderr, "rank %d: wrong\n", rank);
  MPI_Finalize();
  return right == 1 ? 0 : 1;
}
