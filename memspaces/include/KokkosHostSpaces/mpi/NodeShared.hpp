// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_MPI_NODE_SHARED_HPP
#define KOKKOS_HOST_SPACES_MPI_NODE_SHARED_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/impl/mpi/Agree.hpp>
#include <KokkosHostSpaces/impl/views/NodeMemory.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include <mpi.h>

namespace KokkosHostSpaces {

/// Where the pages of a NodeShared lie.
enum class NodePages {
  interleaved,  ///< on all NUMA nodes in turn: all ranks read all of it
  by_parts      ///< part r of the memory near rank r of the node: each rank reads its part most
};

/// A table of which all ranks of a node have one physical copy, page-locked and mapped: kernels of each
/// rank read it in place, and it is copied to devices at full rate. Read-only once it is made: a store to
/// it on the host is a segmentation fault.
///
///     khs::NodeShared<double**, Kokkos::LayoutLeft> const table(
///         MPI_COMM_WORLD, "cross sections", Kokkos::LayoutLeft(energies, nuclides),
///         [&](auto const& view) { read_file(view); });
///     auto const sigma = table.view();  // View<double const**, LayoutLeft, MappedSpace, Unmanaged>
///
/// The memory is a file of memory without a name. It is gone with the last rank that has it, however that
/// rank ends, and no file has to be removed. The ranks of a node must be processes of one user that see
/// each other in /proc: containers hold all ranks of a node, or share its processes.
///
/// The ranks of a node together count its bytes once toward KOKKOS_HOST_SPACES_NODE_LIMIT and in
/// pool::statistics (bytes_node_shared), in equal parts. Each rank registers the memory for itself, which
/// takes longer than for private memory where shared memory has no huge pages
/// (/sys/kernel/mm/transparent_hugepage/shmem_enabled: `advise` gives them).
///
/// \tparam DataType as of a View with trivially copyable elements
/// \tparam Layout   LayoutLeft or LayoutRight
template <class DataType, class Layout = Kokkos::LayoutRight>
class NodeShared {
 public:
  /// What a rank reads; unmanaged: it lives as long as the NodeShared of this rank.
  using view_type =
      Kokkos::View<typename Kokkos::View<DataType, Layout, MappedSpace>::const_data_type, Layout,
                   MappedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  /// What the ranks fill, on the host.
  using fill_view_type =
      Kokkos::View<DataType, Layout, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Makes the table on all ranks of `comm`, one copy on each of their nodes. Collective; blocks until
  /// the table is ready on all ranks. Call it after Kokkos::initialize and MPI_Init, by one thread.
  ///
  /// \param comm   MPI is called on it, and on parts of it that are freed again; not kept
  /// \param label  names the table in messages, equal on all ranks: tells it from others
  /// \param layout with all extents, equal on all ranks: `Kokkos::LayoutLeft(n, m)`
  /// \param fill   `fill(view)`, called on the first rank of each node; or, if it takes them,
  ///               `fill(view, part, parts)`, called on each of the `parts` ranks of a node. Elements
  ///               are 0 before. It must not call the device.
  /// \param pages  where the memory lies
  /// \throw Error on all ranks, with the rank and the reason, if a rank cannot have the memory or cannot
  /// page-lock it, if its `fill` throws, or if its label, extents, type or layout differ from those of rank 0
  template <class Fill>
  NodeShared(MPI_Comm comm, std::string const& label, Layout const& layout, Fill const& fill,
             NodePages pages = NodePages::interleaved)
      : m_layout(layout) {
    static_assert(std::is_trivially_copyable_v<typename view_type::value_type>,
                  "the elements of a NodeShared are trivially copyable");
    static_assert(
        std::is_same_v<Layout, Kokkos::LayoutLeft> || std::is_same_v<Layout, Kokkos::LayoutRight>,
        "a NodeShared is dense: LayoutLeft or LayoutRight");
    std::string const what = "making the table \"" + label + "\", shared by the ranks of a node,";
    if constexpr (Impl::has_stock_device)
      throw Error(
          what +
          " is not possible (kernels of this device do not reach memory of other ranks): give each "
          "rank a View in MappedSpace");
    std::size_t const bytes = checked_bytes(comm, what, label);
    Node const node(comm);
    m_memory = std::make_unique<Impl::NodeMemory>(label, bytes);
    Impl::NodeMemory::Place place;
    Impl::do_on_all(comm, what, [&] {
      std::size_t const parts = std::size_t(node.size), equal = bytes / parts;
      m_memory->count(node.rank == 0 ? bytes - (parts - 1) * equal : equal);
      if (node.rank == 0) place = m_memory->make(pages == NodePages::interleaved);
    });
    Impl::check_mpi(MPI_Bcast(&place, sizeof place, MPI_BYTE, 0, node.comm), what);
    Impl::do_on_all(comm, what, [&] {
      if (node.rank > 0) m_memory->open(place);
      m_memory->fault_in(std::size_t(node.rank), std::size_t(node.size));
    });
    m_memory->close();
    Impl::do_on_all(comm, what, [&] {
      using Pointer = typename fill_view_type::pointer_type;
      fill_view_type const filled(static_cast<Pointer>(m_memory->data()), m_layout);
      if constexpr (std::is_invocable_v<Fill const&, fill_view_type const&, int, int>)
        fill(filled, node.rank, node.size);
      else if (node.rank == 0)
        fill(filled);
    });
    Impl::do_on_all(comm, what, [&] { m_memory->lock(); });
  }

  /// Ends the table for this rank, and for the node with the last rank: not collective, also after
  /// MPI_Finalize. Waits for running kernels. Views of it must not be used any more.
  ~NodeShared()                                = default;
  NodeShared(NodeShared&&) noexcept            = default;
  NodeShared& operator=(NodeShared&&) noexcept = default;

  /// The table: of const elements, for kernels in place, deep_copy, device_view and streamed loops.
  view_type view() const {
    return view_type(static_cast<typename view_type::pointer_type>(m_memory->data()), m_layout);
  }

 private:
  // The ranks of `comm` on one node.
  struct Node {
    explicit Node(MPI_Comm of) {
      Impl::check_mpi(MPI_Comm_split_type(of, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm),
                      "MPI does not tell which ranks share a node");
      MPI_Comm_rank(comm, &rank);
      MPI_Comm_size(comm, &size);
    }
    ~Node() { MPI_Comm_free(&comm); }
    Node(Node const&)            = delete;
    Node& operator=(Node const&) = delete;

    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 1;
  };

  // Without RTTI. `auto`, or the name would have the type that is returned.
  static auto type_name() {
    std::string const all = __PRETTY_FUNCTION__;  // "... [with DataType = double**; Layout = ...]"
    std::size_t const at  = all.find("DataType = ");
    return all.substr(at, all.size() - at - 1);
  }

  // Tells on all ranks whose arguments are not usable, or not those of rank 0.
  std::size_t checked_bytes(MPI_Comm comm, std::string const& what,
                            std::string const& label) const {
    std::string extents;
    double size = sizeof(typename view_type::value_type);
    for (std::size_t r = 0; r < view_type::rank(); ++r) {
      bool const is_dynamic    = r < view_type::rank_dynamic();
      std::size_t const extent = is_dynamic ? m_layout.dimension[r] : view_type::static_extent(r);
      extents += (r > 0 ? "," : "") + std::to_string(std::int64_t(extent));
      size *= double(extent);
    }
    std::string const mine = "(" + extents + ") of type " + type_name() + ", \"" + label + "\"";
    std::string first      = mine;
    Impl::broadcast(first, 0, comm, what);
    Impl::do_on_all(comm, what, [&] {
      if (!Kokkos::is_initialized())
        throw Error("Kokkos is not initialized: call Kokkos::initialize before");
      if (size > double(PTRDIFF_MAX))
        throw Error("its size overflows (" + extents + "): pass all extents, none negative");
      if (mine != first)
        throw Error("it is " + mine + ", and on rank 0 " + first +
                    ": make equal tables in equal order on all ranks");
    });
    return fill_view_type::required_allocation_size(m_layout);
  }

  Layout m_layout;
  std::unique_ptr<Impl::NodeMemory> m_memory;
};

}  // namespace KokkosHostSpaces

#endif
