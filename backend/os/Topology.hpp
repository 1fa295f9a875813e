// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_TOPOLOGY_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_TOPOLOGY_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// NUMA nodes, cores and PCI devices of a machine, by hwloc. NUMA nodes are named by their OS
/// index. Immutable after construction, so const members may be called from any thread.
class Topology {
 public:
  /// This machine, loaded on first use; respects cpusets and cgroups (hwloc's allowed sets).
  static Topology const& machine();

  /// A machine described by an hwloc XML document; binding does nothing there. \throw Error if it
  /// cannot be read.
  static Topology from_xml(std::string const& xml);

  Topology(Topology&&) noexcept;
  ~Topology();

  /// The node nearest to the PCI device ("0000:17:00.0"); -1 if the device is unknown, the machine
  /// has one node, or the nearest one is not allowed to this process.
  int nearest_node(std::string const& pci_bus_id) const;

  /// Nodes from which this process may allocate.
  std::vector<int> allowed_nodes() const;

  /// Cores (processing units) of the node which this process may use; of the machine for node -1.
  int allowed_cores(int numa_node) const;

  /// The node on which all touched pages of a range lie; -1 if they lie on several, or the system
  /// does not tell.
  int node_of(void const* pointer, std::size_t bytes) const noexcept;

  /// Binds pages that were not touched yet to a node; false if the system refuses.
  bool bind_memory(void* pointer, std::size_t bytes, int numa_node) const noexcept;

  /// Binds the calling thread to the allowed cores of a node (-1: of the machine); false if the
  /// system refuses.
  bool bind_this_thread(int numa_node) const noexcept;

 private:
  struct Handle;
  explicit Topology(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> m_handle;
};

}  // namespace KokkosHostSpaces::Impl

#endif
