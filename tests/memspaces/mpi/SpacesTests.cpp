// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// MPI takes memory of each space as host memory: messages around a ring of ranks, and writes into a window of the next
// rank, from memory that the pool hands out anew each time.

#include "Ranks.hpp"

#include <KokkosHostSpaces.hpp>

#include <cstdio>

namespace {

namespace khs = KokkosHostSpaces;
using namespace Ranks;

template <class View>
bool came_from(View const& view, int sender) {
  for (std::size_t i = 0; i < view.extent(0); ++i)
    if (view(i) != int(i) + sender) return false;
  return true;
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
void exchange(int count, bool with_windows) {
  using View = Kokkos::View<int*, Space>;
  View const sent("sent", std::size_t(count)), received("received", std::size_t(count)),
      window("window", std::size_t(count));
  for (int i = 0; i < count; ++i) sent(std::size_t(i)) = i + rank();
  MPI_Sendrecv(sent.data(), count, MPI_INT, next(), 0, received.data(), count, MPI_INT, previous(),
               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  RANKS_CHECK(came_from(received, previous()));
  if (!with_windows) return;
  MPI_Win handle;
  MPI_Win_create(window.data(), MPI_Aint(count) * MPI_Aint(sizeof(int)), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &handle);
  MPI_Win_fence(0, handle);
  MPI_Put(sent.data(), count, MPI_INT, next(), 0, count, MPI_INT, handle);
  MPI_Win_fence(0, handle);
  MPI_Win_free(&handle);
  RANKS_CHECK(came_from(window, previous()));
}

AddCase const each_space("MPI sends, receives and writes memory of each space", [] {
  bool const with_windows = has_windows();
  if (!with_windows) std::puts("This MPI has no windows: only messages are tested.");
  for (int repetition = 0; repetition < 5; ++repetition)
    for (int const count : {1, 1000, 1 << 20}) {
      exchange<khs::PinnedSpace>(count, with_windows);
      exchange<khs::MappedSpace>(count, with_windows);
      exchange<khs::WriteCombinedSpace>(count / 100 + 1, with_windows);
    }
});

}  // namespace
