// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Topology.hpp"

#include "../Error.hpp"

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <type_traits>

#include <hwloc.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

// Nodes to which memory may be bound: allowed, with memory and cores. A node without cores can be the
// memory of a GPU (Grace).
Bitmap usable_nodes(hwloc_topology_t topology, std::string const& nodes_with_cores) {
  Bitmap usable(hwloc_bitmap_alloc());
  Bitmap const with_cores(hwloc_bitmap_alloc_full());
  if (with_cores == nullptr) return nullptr;
  // hwloc assigns to a node without cores those of its parent object.
  if (!nodes_with_cores.empty())
    hwloc_bitmap_list_sscanf(with_cores.get(), nodes_with_cores.c_str());
  for (hwloc_obj_t node = nullptr; usable != nullptr;) {
    node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node);
    if (node == nullptr) break;
    bool const is_of_gpu = node->subtype != nullptr && std::strcmp(node->subtype, "GPUMemory") == 0;
    if (!is_of_gpu && node->attr->numanode.local_memory > 0)
      hwloc_bitmap_set(usable.get(), node->os_index);
  }
  if (usable == nullptr) return nullptr;
  //~ failure 18a
  hwloc_bitmap_and(usable.get(), usable.get(), with_cores.get());
  hwloc_bitmap_and(usable.get(), usable.get(), hwloc_topology_get_allowed_nodeset(topology));
  return usable;
}

}  // namespace

struct Topology::Handle {
  hwloc_topology_t topology = nullptr;
  std::string nodes_with_cores;

  Handle() {
    if (hwloc_topology_init(&topology) != 0) fail();
  }
  ~Handle() { hwloc_topology_destroy(topology); }
  Handle(Handle const&)            = delete;
  Handle& operator=(Handle const&) = delete;

  // Asks for PCI devices, which are left out by default, and disables plugins that start GPU runtimes.
  void load() {
    // The memory of a node may be allowed while its cores are not.
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
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

Topology Topology::load_machine() {
  auto handle = std::make_unique<Handle>();
  handle->load();
  if (hwloc_topology_is_thissystem(handle->topology) != 0)  // not another one, by HWLOC_XMLFILE
    std::ifstream("/sys/devices/system/node/has_cpu") >> handle->nodes_with_cores;
  return Topology(std::move(handle));
}

// Never destroyed, because static destructors may allocate and free memory.
Topology const& Topology::machine() {
  static std::atomic<Topology const*> loaded{nullptr};
  static Topology const& unknown = *new Topology(nullptr);  // allocate without placement
  static std::atomic<unsigned> asked{0};
  static std::mutex loading;
  if (Topology const* const known = loaded.load(std::memory_order_acquire)) return *known;
  if (!std::has_single_bit(asked.fetch_add(1, std::memory_order_relaxed) + 1)) return unknown;
  std::lock_guard const lock(loading);
  if (Topology const* const known = loaded.load(std::memory_order_relaxed)) return *known;
  try {
    loaded.store(new Topology(load_machine()), std::memory_order_release);
    return *loaded.load(std::memory_order_relaxed);
  } catch (Error const&) {
    return unknown;
  }
}

bool Topology::is_known() const noexcept { return m_handle != nullptr; }

Topology Topology::from_xml(std::string const& xml, std::string const& nodes_with_cores) {
  auto handle              = std::make_unique<Handle>();
  auto const size          = static_cast<int>(xml.size()) + 1;
  handle->nodes_with_cores = nodes_with_cores;
  if (hwloc_topology_set_xmlbuffer(handle->topology, xml.c_str(), size) != 0) Handle::fail();
  handle->load();
  return Topology(std::move(handle));
}

int Topology::nearest_node(std::string const& pci_bus_id) const {
  if (m_handle == nullptr) return -1;
  hwloc_topology_t const topology = m_handle->topology;
  hwloc_obj_t const device        = hwloc_get_pcidev_by_busidstring(topology, pci_bus_id.c_str());
  Bitmap const usable             = usable_nodes(topology, m_handle->nodes_with_cores);
  Bitmap const near(hwloc_bitmap_alloc());
  if (device == nullptr || usable == nullptr || near == nullptr) return -1;
  // Go up from the device until an object has usable nodes.
  for (hwloc_obj_t around = hwloc_get_non_io_ancestor_obj(topology, device); around != nullptr;
       around             = around->parent) {
    if (around->nodeset == nullptr) continue;
    hwloc_bitmap_and(near.get(), usable.get(), around->nodeset);
    if (hwloc_bitmap_iszero(near.get())) continue;
    // All nodes are equally near.
    bool const is_any = hwloc_bitmap_isequal(near.get(), usable.get()) != 0;
    return is_any ? -1 : hwloc_bitmap_first(near.get());
  }
  return -1;
}

// Bridges above both. The topmost ones, from the host to PCI, carry more than one link.
bool Topology::share_uplink(std::string const& pci_bus_id, std::string const& other) const {
  if (m_handle == nullptr) return false;
  auto const above = [&](std::string const& id) {
    hwloc_obj_t const found = hwloc_get_pcidev_by_busidstring(m_handle->topology, id.c_str());
    return found != nullptr ? found->parent : nullptr;
  };
  for (hwloc_obj_t a = above(pci_bus_id); a != nullptr; a = a->parent)
    for (hwloc_obj_t b = above(other); b != nullptr; b = b->parent)
      if (a == b)
        return a->type == HWLOC_OBJ_BRIDGE && a->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
  return false;
}

std::vector<int> Topology::allowed_nodes() const {
  std::vector<int> result;
  if (m_handle == nullptr) return result;
  hwloc_const_bitmap_t const nodes = hwloc_topology_get_allowed_nodeset(m_handle->topology);
  for (int node = hwloc_bitmap_first(nodes); node >= 0; node = hwloc_bitmap_next(nodes, node)) {
    result.push_back(node);
  }
  return result;
}

Cores Topology::cores(int numa_node) const {
  if (m_handle == nullptr) return numa_node < 0 ? Cores::allowed() : Cores();
  Cores result;
  hwloc_topology_t const topology = m_handle->topology;
  hwloc_obj_t const object        = numa_node < 0 ? hwloc_get_root_obj(topology)
                                                  : hwloc_get_numanode_obj_by_os_index(
                                                        topology, static_cast<unsigned>(numa_node));
  Bitmap const both(hwloc_bitmap_alloc());
  if (object == nullptr || both == nullptr) return result;
  hwloc_bitmap_and(both.get(), object->cpuset, hwloc_topology_get_allowed_cpuset(topology));
  for (int core = hwloc_bitmap_first(both.get()); core >= 0;
       core     = hwloc_bitmap_next(both.get(), core)) {
    result.add(static_cast<unsigned>(core));
  }
  return result;
}

Cores Topology::cores_for(int numa_node) const {
  bool const is_machine = this == &machine();
  Cores const all       = is_machine ? Cores::allowed() : cores(-1);
  Cores const of_node   = cores(numa_node) & all;
  //~ failure 18b
  return of_node.count() > 0 ? of_node : all;
}

int Topology::node_of(void const* pointer, std::size_t bytes) const noexcept {
  if (m_handle == nullptr) return -1;
  Bitmap const nodes(hwloc_bitmap_alloc());
  if (nodes == nullptr || hwloc_get_area_memlocation(m_handle->topology, pointer, bytes,
                                                     nodes.get(), HWLOC_MEMBIND_BYNODESET) != 0)
    return -1;
  return hwloc_bitmap_weight(nodes.get()) == 1 ? hwloc_bitmap_first(nodes.get()) : -1;
}

bool Topology::bind_memory(void* pointer, std::size_t bytes, int numa_node) const noexcept {
  if (m_handle == nullptr) return false;
  Bitmap const node(hwloc_bitmap_alloc());
  if (node == nullptr || hwloc_bitmap_set(node.get(), static_cast<unsigned>(numa_node)) != 0)
    return false;
  // Not strict: if the node is full, pages come from its neighbours instead of ending the process.
  return hwloc_set_area_membind(m_handle->topology, pointer, bytes, node.get(), HWLOC_MEMBIND_BIND,
                                HWLOC_MEMBIND_BYNODESET) == 0;
}

bool Topology::interleave_memory(void* pointer, std::size_t bytes) const noexcept {
  if (m_handle == nullptr) return false;
  Bitmap const nodes = usable_nodes(m_handle->topology, m_handle->nodes_with_cores);
  if (nodes == nullptr || hwloc_bitmap_iszero(nodes.get())) return false;
  if (hwloc_bitmap_weight(nodes.get()) == 1) return true;
  return hwloc_set_area_membind(m_handle->topology, pointer, bytes, nodes.get(),
                                HWLOC_MEMBIND_INTERLEAVE, HWLOC_MEMBIND_BYNODESET) == 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend
