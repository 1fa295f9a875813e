// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_TOPOLOGY_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_TOPOLOGY_HPP

#include "Cores.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// NUMA nodes, cores and PCI devices of a machine, by hwloc. NUMA nodes are numbered by OS index.
/// Immutable after construction: const members are thread-safe.
class Topology {
 public:
  /// This machine, loaded on first use; respects cpusets and cgroups (hwloc's allowed sets). If hwloc
  /// fails, one that knows only the cores, and the 2nd, 4th, 8th, ... call tries again.
  static Topology const& machine();

  /// False if hwloc failed, so that what it does not tell may be told later.
  bool is_known() const noexcept;

  /// A machine described by an hwloc XML document; binding does nothing there.
  /// \param nodes_with_cores a list as Linux writes it ("0-1,3"); empty: all
  /// \throw Error if the document cannot be read
  static Topology from_xml(std::string const& xml, std::string const& nodes_with_cores = "");

  Topology(Topology&&) noexcept;
  ~Topology();

  /// The node nearest to a PCI device ("0000:17:00.0"), of the allowed nodes with memory and cores
  /// (the memory of a GPU may be a node without cores); -1 if the device is unknown, or no node is
  /// nearer to it than the others.
  int nearest_node(std::string const& pci_bus_id) const;

  /// True if two PCI devices are behind one switch, whose uplink they share; false if one is unknown.
  bool share_uplink(std::string const& pci_bus_id, std::string const& other) const;

  /// The nodes from which this process may allocate.
  std::vector<int> allowed_nodes() const;

  /// Allowed cores (processing units) of a node; of the machine for node -1.
  Cores cores(int numa_node) const;
  int allowed_cores(int numa_node) const { return cores(numa_node).count(); }

  /// The cores from which to touch the memory of a node: those of its cores to which threads of this
  /// process are bound (Cores::allowed()), else all of these. Of another machine: the node's allowed
  /// cores, else all.
  Cores cores_for(int numa_node) const;

  /// The node on which all touched pages of a range lie; -1 if they lie on several or this is
  /// unknown.
  int node_of(void const* pointer, std::size_t bytes) const noexcept;

  /// Binds untouched pages to a node; false if the system refuses.
  bool bind_memory(void* pointer, std::size_t bytes, int numa_node) const noexcept;

  /// Spreads untouched pages over the allowed nodes with memory and cores, in turn; false if the system
  /// refuses.
  bool interleave_memory(void* pointer, std::size_t bytes) const noexcept;

 private:
  struct Handle;
  explicit Topology(std::unique_ptr<Handle> handle);
  static Topology load_machine();
  std::unique_ptr<Handle> m_handle;  // nullptr: hwloc failed, or the library is built without it
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
