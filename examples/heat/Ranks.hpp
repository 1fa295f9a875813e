// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The table that processes share, and the halos that they send. Without MPI there is one process, which sends none.

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_RANKS_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_RANKS_HPP

#include "Field.hpp"

#include <KokkosHostSpaces.hpp>
#ifdef HEAT_WITH_MPI
#include <KokkosHostSpaces/mpi/Exchange.hpp>
#include <KokkosHostSpaces/mpi/NodeShared.hpp>
#endif

#include <vector>

namespace Heat {

namespace khs = KokkosHostSpaces;

using TableView = Kokkos::View<double const***, Kokkos::LayoutLeft, khs::MappedSpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

#ifdef HEAT_WITH_MPI

/// A table of which the processes of a node have one page-locked copy; kernels read it in place.
class Table {
 public:
  template <class Fill>
  Table(char const* label, Index3 extents, Fill const& fill)
      : m_table(MPI_COMM_WORLD, label, Kokkos::LayoutLeft(extents[0], extents[1], extents[2]),
                fill) {}
  TableView view() const { return m_table.view(); }

 private:
  khs::NodeShared<double***, Kokkos::LayoutLeft> m_table;
};

inline auto cells_in(Field const& field, Box const& box) {
  auto const range = [&](int axis) { return Kokkos::pair(box.begin[axis], box.end[axis]); };
  return Kokkos::subview(field, range(0), range(1), range(2));
}

/// Fills the ghost cells of a field from the neighbours.
class Halo {
 public:
  using Face = decltype(cells_in(Field(), Box()));

  Halo(Device const& instance, Decomposition const& decomposition)
      : m_instance(instance), m_decomposition(decomposition) {}

  /// Enqueues what takes the outermost own cells to the host. The messages go while the caller waits
  /// for the result, and then are in the ghost cells for later work of the instance.
  khs::Exchange begin(Field const& field) const {
    std::vector<khs::Outgoing<Face>> out;
    std::vector<khs::Incoming<Face>> in;
    for (Neighbour const& neighbour : m_decomposition.neighbours()) {
      auto const [rank, axis, side] = neighbour;
      Box const own                 = m_decomposition.face(neighbour, false),
                ghost               = m_decomposition.face(neighbour, true);
      out.push_back(khs::outgoing(cells_in(field, own), rank, 2 * axis + side));
      in.push_back(khs::incoming(cells_in(field, ghost), rank, 2 * axis + (1 - side)));
    }
    return khs::exchange(m_instance, MPI_COMM_WORLD, out, in);
  }

 private:
  Device m_instance;
  Decomposition m_decomposition;
};

#else

class Table {
 public:
  template <class Fill>
  Table(char const* label, Index3 extents, Fill const& fill)
      : m_table(label, extents[0], extents[1], extents[2]) {
    fill(m_table);
  }
  TableView view() const { return m_table; }

 private:
  Kokkos::View<double***, Kokkos::LayoutLeft, khs::MappedSpace> m_table;
};

class Halo {
 public:
  struct Nothing {
    void wait() {}
  };
  Halo(Device const&, Decomposition const&) {}
  Nothing begin(Field const&) const { return {}; }
};

#endif

}  // namespace Heat

#endif
