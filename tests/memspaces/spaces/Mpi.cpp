// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// MPI takes memory of each space as host memory: messages around a ring of ranks, and writes into a window of the next
// rank, from memory that the pool hands out anew each time. Exits with the number of wrong results.

#include <KokkosHostSpaces.hpp>

#include <mpi.h>

#include <cstdio>

namespace {

namespace khs = KokkosHostSpaces;

struct Ring {
  int rank = 0, size = 1;
  Ring() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }
};

template <class View>
int wrong(View const& view, int sender) {
  for (std::size_t i = 0; i < view.extent(0); ++i)
    if (view(i) != int(i) + sender) return 1;
  return 0;
}

// Some installations of MPI have no windows at all, also not on ordinary memory.
bool has_windows() {
  int memory = 0;
  MPI_Win handle;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  bool const made = MPI_Win_create(&memory, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                                   &handle) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  if (made) MPI_Win_free(&handle);
  return made;
}

template <class Space>
int exchange(Ring const& ring, int count, bool with_windows) {
  using View = Kokkos::View<int*, Space>;
  View const sent("sent", std::size_t(count)), received("received", std::size_t(count)),
      window("window", std::size_t(count));
  for (int i = 0; i < count; ++i) sent(std::size_t(i)) = i + ring.rank;

  MPI_Sendrecv(sent.data(), count, MPI_INT, ring.next(), 0, received.data(), count, MPI_INT,
               ring.previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  if (!with_windows) return wrong(received, ring.previous());
  MPI_Win handle;
  MPI_Win_create(window.data(), MPI_Aint(count) * MPI_Aint(sizeof(int)), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &handle);
  MPI_Win_fence(0, handle);
  MPI_Put(sent.data(), count, MPI_INT, ring.next(), 0, count, MPI_INT, handle);
  MPI_Win_fence(0, handle);
  MPI_Win_free(&handle);
  return wrong(received, ring.previous()) + wrong(window, ring.previous());
}

int exchange_all() {
  Ring const ring;
  bool const with_windows = has_windows();
  if (!with_windows) std::puts("This MPI has no windows: only messages are tested.");
  int errors = 0;
  for (int repetition = 0; repetition < 5; ++repetition)
    for (int const count : {1, 1000, 1 << 20}) {
      errors += exchange<khs::PinnedSpace>(ring, count, with_windows);
      errors += exchange<khs::MappedSpace>(ring, count, with_windows);
      errors += exchange<khs::WriteCombinedSpace>(ring, count / 100 + 1, with_windows);
    }
  return errors;
}

}  // namespace

int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  int errors = 0;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    errors = exchange_all();
  }
  MPI_Finalize();
  if (errors > 0) std::fprintf(stderr, "%d exchanges were wrong\n", errors);
  return errors > 0 ? 1 : 0;
}
