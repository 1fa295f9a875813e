// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The topology where the library is built without hwloc: how many cores there are is known, where
// devices and memory are is not.

#include "Topology.hpp"

#include "../Error.hpp"

#include <thread>

#include <sched.h>

namespace KokkosHostSpaces::Impl {

struct Topology::Handle {
  cpu_set_t cores;
};

Topology::Topology(std::unique_ptr<Handle> handle) : m_handle(std::move(handle)) {}
Topology::Topology(Topology&&) noexcept = default;
Topology::~Topology()                   = default;

// Never destroyed, since memory may be allocated and freed by static constructors and destructors.
Topology const& Topology::machine() {
  static Topology const* const the_machine = [] {
    auto handle = std::make_unique<Handle>();
    CPU_ZERO(&handle->cores);
    // Linux cuts a mask of all cores down to those that are allowed; a thread of its own, so that
    // the caller keeps its affinity.
    std::thread([&cores = handle->cores] {
      cpu_set_t every;
      CPU_ZERO(&every);
      for (std::size_t core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &every);
      sched_setaffinity(0, sizeof every, &every);
      sched_getaffinity(0, sizeof cores, &cores);
    }).join();
    return new Topology(std::move(handle));
  }();
  return *the_machine;
}

Topology Topology::from_xml(std::string const&) {
  throw Error(
      "a description of a machine cannot be read (this library was built without hwloc): build it "
      "with KokkosHostSpaces_ENABLE_HWLOC");
}

int Topology::nearest_node(std::string const&) const { return -1; }

std::vector<int> Topology::allowed_nodes() const { return {}; }

int Topology::allowed_cores(int numa_node) const {
  return numa_node < 0 ? CPU_COUNT(&m_handle->cores) : 0;
}

int Topology::node_of(void const*, std::size_t) const noexcept { return -1; }

bool Topology::bind_memory(void*, std::size_t, int) const noexcept { return false; }

bool Topology::bind_this_thread(int numa_node) const noexcept {
  return numa_node < 0 && sched_setaffinity(0, sizeof m_handle->cores, &m_handle->cores) == 0;
}

}  // namespace KokkosHostSpaces::Impl
