// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The topology of a build without hwloc: knows the cores, but not where devices and memory are.

#include "Topology.hpp"

#include "../Error.hpp"

namespace KokkosHostSpaces::Impl::Backend {

struct Topology::Handle {};

Topology::Topology(std::unique_ptr<Handle> handle) : m_handle(std::move(handle)) {}
Topology::Topology(Topology&&) noexcept = default;
Topology::~Topology()                   = default;

// Never destroyed, because static destructors may allocate and free memory.
Topology const& Topology::machine() {
  static Topology const* const the_machine = new Topology(nullptr);
  return *the_machine;
}

bool Topology::is_known() const noexcept { return true; }

Topology Topology::from_xml(std::string const&, std::string const&) {
  throw Error(
      "a description of a machine cannot be read (this library was built without hwloc): build it "
      "with KokkosHostSpaces_ENABLE_HWLOC");
}

int Topology::nearest_node(std::string const&) const { return -1; }

bool Topology::share_uplink(std::string const&, std::string const&) const { return false; }

std::vector<int> Topology::allowed_nodes() const { return {}; }

Cores Topology::cores(int numa_node) const { return numa_node < 0 ? Cores::allowed() : Cores(); }

Cores Topology::cores_for(int) const { return Cores::allowed(); }

int Topology::node_of(void const*, std::size_t) const noexcept { return -1; }

bool Topology::bind_memory(void*, std::size_t, int) const noexcept { return false; }

bool Topology::interleave_memory(void*, std::size_t) const noexcept { return false; }

}  // namespace KokkosHostSpaces::Impl::Backend
