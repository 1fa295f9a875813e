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

/// NUMA nodes, cores and PCI devices of a machine, by hwloc. NUMA nodes are named by their OS
/// index. Immutable after construction, so const members may be called from any thread.
class Topology {
 public:
  /// This machine, loaded on first use; respects cpusets and cgroups (hwloc's allowed sets). Where
  /// hwloc cannot load it, one of which only the cores are known.
  static Topology const& machine();

  /// A machine described by an hwloc XML document, and the list of its nodes that have cores as
  /// Linux writes it ("0-1,3"; empty: all); binding does nothing there. \throw Error if it cannot
  /// be read.
  static Topology from_xml(std::string const& xml, std::string const& nodes_with_cores = "");

  Topology(Topology&&) noexcept;
  ~Topology();

  /// The node nearest to the PCI device ("0000:17:00.0") of those with cores and memory (the memory
  /// of a GPU may be a node without cores) that are allowed to this process; -1 if the device is
  /// unknown, or no node is nearer to it than the others.
  int nearest_node(std::string const& pci_bus_id) const;

  /// Nodes from which this process may allocate.
  std::vector<int> allowed_nodes() const;

  /// Cores (processing units) of the node which this process may use; of the machine for node -1.
  Cores cores(int numa_node) const;
  int allowed_cores(int numa_node) const { return cores(numa_node).count(); }

  /// The cores that shall touch the memory of a node: its own, or where none is allowed all.
  Cores cores_for(int numa_node) const {
    Cores of_node = cores(numa_node);
    return of_node.count() > 0 ? of_node : cores(-1);
  }

  /// The node on which all touched pages of a range lie; -1 if they lie on several, or the system
  /// does not tell.
  int node_of(void const* pointer, std::size_t bytes) const noexcept;

  /// Binds pages that were not touched yet to a node; false if the system refuses.
  bool bind_memory(void* pointer, std::size_t bytes, int numa_node) const noexcept;

 private:
  struct Handle;
  explicit Topology(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> m_handle;  // nullptr: hwloc cannot load, or the library lacks it
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
