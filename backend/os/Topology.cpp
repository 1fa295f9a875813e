// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Topology.hpp"

#include "../Error.hpp"

#include <cerrno>
#include <cstring>
#include <type_traits>

#include <hwloc.h>

namespace KokkosHostSpaces::Impl {

namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

hwloc_const_nodeset_t all_nodes(hwloc_topology_t topology) {
  return hwloc_get_root_obj(topology)->nodeset;
}

// The cores of a node, or of the machine, that this process may use.
Bitmap cores_of(hwloc_topology_t topology, int numa_node) {
  Bitmap cores(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  if (cores == nullptr || numa_node < 0) return cores;
  hwloc_obj_t const node =
      hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(numa_node));
  if (node == nullptr) return nullptr;
  hwloc_bitmap_and(cores.get(), cores.get(), node->cpuset);
  return cores;
}

}  // namespace

struct Topology::Handle {
  hwloc_topology_t topology = nullptr;

  Handle() {
    if (hwloc_topology_init(&topology) != 0) fail();
  }
  ~Handle() { hwloc_topology_destroy(topology); }
  Handle(Handle const&)            = delete;
  Handle& operator=(Handle const&) = delete;

  // PCI devices are left out by default. hwloc's own plugins for GPUs would start their runtimes.
  void load() {
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    for (char const* plugin : {"cuda", "nvml", "opencl", "gl", "rsmi", "levelzero"}) {
      hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
    }
    if (hwloc_topology_load(topology) != 0) fail();
  }

  [[noreturn]] static void fail() {
    throw Error(std::string("hwloc cannot describe the machine (") + std::strerror(errno) +
                "): look at what lstopo says; HWLOC_XMLFILE and HWLOC_COMPONENTS change it");
  }
};

Topology::Topology(std::unique_ptr<Handle> handle) : m_handle(std::move(handle)) {}
Topology::Topology(Topology&&) noexcept = default;
Topology::~Topology()                   = default;

// Never destroyed, since memory may be allocated and freed by static constructors and destructors.
Topology const& Topology::machine() {
  static Topology const* const the_machine = [] {
    auto handle = std::make_unique<Handle>();
    handle->load();
    return new Topology(std::move(handle));
  }();
  return *the_machine;
}

Topology Topology::from_xml(std::string const& xml) {
  auto handle     = std::make_unique<Handle>();
  auto const size = static_cast<int>(xml.size()) + 1;
  if (hwloc_topology_set_xmlbuffer(handle->topology, xml.c_str(), size) != 0) Handle::fail();
  handle->load();
  return Topology(std::move(handle));
}

int Topology::nearest_node(std::string const& pci_bus_id) const {
  hwloc_topology_t const topology = m_handle->topology;
  hwloc_obj_t const device        = hwloc_get_pcidev_by_busidstring(topology, pci_bus_id.c_str());
  if (device == nullptr) return -1;
  hwloc_obj_t const ancestor = hwloc_get_non_io_ancestor_obj(topology, device);
  // A device that is as near to one node as to any other has no nearest one.
  if (ancestor == nullptr || hwloc_bitmap_isequal(ancestor->nodeset, all_nodes(topology)))
    return -1;
  Bitmap const near(hwloc_bitmap_dup(ancestor->nodeset));
  if (near == nullptr) return -1;
  hwloc_bitmap_and(near.get(), near.get(), hwloc_topology_get_allowed_nodeset(topology));
  return hwloc_bitmap_first(near.get());
}

std::vector<int> Topology::allowed_nodes() const {
  hwloc_const_bitmap_t const nodes = hwloc_topology_get_allowed_nodeset(m_handle->topology);
  std::vector<int> result;
  for (int node = hwloc_bitmap_first(nodes); node >= 0; node = hwloc_bitmap_next(nodes, node)) {
    result.push_back(node);
  }
  return result;
}

int Topology::allowed_cores(int numa_node) const {
  Bitmap const cores = cores_of(m_handle->topology, numa_node);
  return cores != nullptr ? hwloc_bitmap_weight(cores.get()) : 0;
}

int Topology::node_of(void const* pointer, std::size_t bytes) const noexcept {
  Bitmap const nodes(hwloc_bitmap_alloc());
  if (nodes == nullptr || hwloc_get_area_memlocation(m_handle->topology, pointer, bytes,
                                                     nodes.get(), HWLOC_MEMBIND_BYNODESET) != 0)
    return -1;
  return hwloc_bitmap_weight(nodes.get()) == 1 ? hwloc_bitmap_first(nodes.get()) : -1;
}

bool Topology::bind_memory(void* pointer, std::size_t bytes, int numa_node) const noexcept {
  Bitmap const node(hwloc_bitmap_alloc());
  if (node == nullptr || hwloc_bitmap_set(node.get(), static_cast<unsigned>(numa_node)) != 0)
    return false;
  // Not strict: a full node shall spill over to its neighbours, not end the process.
  return hwloc_set_area_membind(m_handle->topology, pointer, bytes, node.get(), HWLOC_MEMBIND_BIND,
                                HWLOC_MEMBIND_BYNODESET) == 0;
}

bool Topology::bind_this_thread(int numa_node) const noexcept {
  Bitmap const cores = cores_of(m_handle->topology, numa_node);
  return cores != nullptr && !hwloc_bitmap_iszero(cores.get()) &&
         hwloc_set_cpubind(m_handle->topology, cores.get(), HWLOC_CPUBIND_THREAD) == 0;
}

}  // namespace KokkosHostSpaces::Impl
