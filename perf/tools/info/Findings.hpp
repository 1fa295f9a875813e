// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The findings about a machine, the warnings that follow from them, and reports of both.

#ifndef KOKKOS_HOST_SPACES_PERF_INFO_FINDINGS_HPP
#define KOKKOS_HOST_SPACES_PERF_INFO_FINDINGS_HPP

#include "../../../backend/pool/Statistics.hpp"
#include "../../../backend/os/Topology.hpp"
#include "../../plain/Platform.hpp"
#include "../../support/System.hpp"

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Rates between page-locked memory near a GPU and that GPU, in bytes per second.
struct GpuRates {
  std::size_t bytes = 0;  ///< page-locked at a time; half of it is copied in one direction
  double page_lock  = 0;  ///< of memory that is new to the process
  double to_device  = 0;
  double to_host    = 0;
  double both       = 0;  ///< the sum of both directions at once
  bool huge_pages   = false;
  int buffer_node   = -1;  ///< of the memory; -1: several nodes, or not known
  Link link;               ///< while data crossed it
  bool verified = false;   ///< all copies had the right contents
};

struct Gpu {
  std::string name;
  std::string pci_bus_id;
  std::string compute_capability;
  std::size_t memory_bytes = 0;
  Link link;                 ///< now; a link that is idle may be slower than under load
  Link max_link;             ///< of the GPU; its slot may be slower
  std::string iommu_domain;  ///< such as "identity", "DMA", "DMA-FQ"; empty: there is no IOMMU
  int node      = -1;        ///< by the system, whether this process may use it or not; -1: none
  int near_node = -1;        ///< on which this library places memory; -1: any
  std::optional<GpuRates> rates;
};

/// A NUMA node on which this process may allocate.
struct NumaNode {
  int index = 0;
  int cores = 0;  ///< that this process may use
};

struct Findings {
  bool with_cuda = false;  ///< this library was built for GPUs
  std::string why_no_gpu;  ///< empty if there is one
  std::string driver;      ///< version of the GPUs' kernel module
  std::vector<Gpu> gpus;
  std::vector<NumaNode> nodes;  ///< none: not known

  std::string huge_pages, huge_pages_defrag, huge_pages_shmem;  ///< modes; empty: not known
  bool huge_pages_asked = true;  ///< not switched off by KOKKOS_HOST_SPACES_HUGE_PAGES

  int cores_online  = 0;
  int cores_allowed = 0;  ///< by the affinity of this process

  std::size_t memory_bytes           = 0;
  std::size_t memory_available_bytes = 0;
  std::optional<std::size_t> container_limit;      ///< of the process' control groups
  std::optional<std::size_t> locked_memory_limit;  ///< RLIMIT_MEMLOCK
  pool::NodeShare node_share;
};

/// Finds all that needs no measurement.
///
/// \param root prefix of the system's files; empty: those of this machine
Findings survey(std::vector<Device> const& devices, Impl::Backend::Topology const& topology,
                std::string const& root = "");

/// Adds rates to the GPUs, with memory that the library page-locks. Takes about 5 seconds in all.
///
/// \throw std::exception
void measure(Findings& findings);

struct Warning {
  std::string name;     ///< for programs, such as "slow_link"
  std::string problem;  ///< and why it matters
  std::string remedy;
};

/// Returns the reasons why this machine is slower, or less safe, than it could be.
std::vector<Warning> warnings_of(Findings const& findings);

/// Writes the report.
void write_report(std::ostream& out, Findings const& findings,
                  std::vector<Warning> const& warnings);

}  // namespace KokkosHostSpaces::Perf

#endif
