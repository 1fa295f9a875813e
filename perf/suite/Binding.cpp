// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Context.hpp"

#include "../plain/Platform.hpp"

#include <hwloc.h>

#include <climits>
#include <cstdlib>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Perf {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using Set = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

class Topology {
 public:
  Topology() {
    hwloc_topology_init(&m_topology);
    hwloc_topology_set_io_types_filter(m_topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    m_is_known = hwloc_topology_load(m_topology) == 0;
  }
  ~Topology() { hwloc_topology_destroy(m_topology); }
  Topology(Topology const&)            = delete;
  Topology& operator=(Topology const&) = delete;

  bool is_known() const { return m_is_known; }
  hwloc_topology_t get() const { return m_topology; }

  Set binding() const {
    Set set(hwloc_bitmap_alloc());
    if (hwloc_get_cpubind(m_topology, set.get(), HWLOC_CPUBIND_PROCESS) != 0)
      hwloc_bitmap_copy(set.get(), hwloc_topology_get_topology_cpuset(m_topology));
    return set;
  }

  // Find the smallest part of the machine that contains the device and cores.
  hwloc_obj_t near(std::string const& pci_bus_id) const {
    hwloc_obj_t object = pci_bus_id.empty()
                             ? nullptr
                             : hwloc_get_pcidev_by_busidstring(m_topology, pci_bus_id.c_str());
    if (object != nullptr) object = hwloc_get_non_io_ancestor_obj(m_topology, object);
    return object != nullptr ? object : hwloc_get_root_obj(m_topology);
  }

 private:
  hwloc_topology_t m_topology;
  bool m_is_known;
};

std::string name(hwloc_const_bitmap_t set) {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, set) < 0) return "";
  std::string const list = text;
  std::free(text);
  return list;
}

}  // namespace

std::string bind_to_cores(Ranks const& ranks) {
  Topology const topology;
  if (!topology.is_known()) return "";
  Set const now = topology.binding();
  if (ranks.local_size() == 1 ||
      !hwloc_bitmap_isequal(now.get(), hwloc_topology_get_topology_cpuset(topology.get())))
    return name(now.get());

  std::vector<Device> const devices = list_devices();
  auto const part_of                = [&](int rank) {
    return topology.near(devices.empty() ? ""
                                                        : devices[std::size_t(rank) % devices.size()].pci_bus_id);
  };
  hwloc_obj_t part = part_of(ranks.local_rank());
  unsigned sharing = 0, mine = 0;
  for (int rank = 0; rank < ranks.local_size(); ++rank) {
    if (rank == ranks.local_rank()) mine = sharing;
    if (part_of(rank) == part) ++sharing;
  }
  std::vector<hwloc_bitmap_t> shares(sharing);
  hwloc_distrib(topology.get(), &part, 1, shares.data(), sharing, INT_MAX, 0);
  std::vector<Set> owners;
  for (hwloc_bitmap_t share : shares) owners.emplace_back(share);
  (void)hwloc_set_cpubind(topology.get(), shares[mine], HWLOC_CPUBIND_PROCESS);
  return name(topology.binding().get());
}

}  // namespace KokkosHostSpaces::Perf
