// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Context.hpp"

#include "../plain/Platform.hpp"
#include "../plain/PlainBuffer.hpp"
#include "../plain/Stopwatch.hpp"
#include "../support/System.hpp"
#include "copy/CopyTwin.hpp"

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>

namespace KokkosHostSpaces::Perf {
namespace {

void add(std::string const& key, std::string const& value) {
  benchmark::AddCustomContext(key, value);
}

std::string number_or_nothing(int number) { return number > 0 ? std::to_string(number) : ""; }

void add_link(std::string const& suffix, Link const& link) {
  add("link_generation" + suffix, number_or_nothing(pcie_generation(link.speed)));
  add("link_width" + suffix, number_or_nothing(link.lanes));
}

void add_device() {
  std::vector<Device> const devices = list_devices();
  if (devices.empty()) return add("gpu", "");
  Device const& device = devices[std::size_t(current_device())];
  add("gpu", device.name);
  add("driver_version", first_line("/sys/module/nvidia/version"));
  add("cuda_driver_version", cuda_driver_version());
  add("cuda_runtime_version", cuda_runtime_version());
  add_link("", current_link(device.pci_bus_id));
  add_link("_max", max_link(device.pci_bus_id));
  add("gpu_numa_node", first_line("/sys/bus/pci/devices/" + device.pci_bus_id + "/numa_node"));
}

std::string compiler() {
  std::string text;
#if defined(__clang__)
  text = "Clang " __clang_version__;
#elif defined(__GNUC__)
  text = "GCC " __VERSION__;
#endif
#ifdef KOKKOS_COMPILER_NVCC
  text +=
      ", nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__);
#endif
  return text;
}

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION_MAJOR) + "." + std::to_string(KOKKOS_VERSION_MINOR) + "." +
         std::to_string(KOKKOS_VERSION_PATCH);
}

struct Limit {
  std::string name;         // to_device, to_host, both, device_memory, host_memory
  double bytes_per_second;  // of all ranks; both: in the two directions together
};

class Links {
 public:
  explicit Links(Ranks const& ranks) : m_ranks(ranks) {
    // Memory of malloc that nobody has written is no memory so far.
    if (!twins_use_cuda) std::memset(m_device[1].get(), 1, bytes);
  }

  // Of `copies` blocks that `enqueue` copies. The best of some, but of the slowest rank: a limit is
  // what all of them can do together.
  double rate(int copies, Stopwatch::Work const& enqueue) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 6; ++i) {  // the first one wakes the link up
      m_ranks.barrier();
      least = std::min(least, m_ranks.greatest(m_stopwatch.time_queued_on_both(enqueue)));
    }
    return double(copies) * double(m_ranks.size()) * double(bytes) / least;
  }

  void to_device() { copy(m_device[0], m_host[0], m_stopwatch.stream()); }
  void to_host() { copy(m_host[1], m_device[1], m_stopwatch.other_stream()); }
  void on_device() { copy(m_device[0], m_device[1], m_stopwatch.stream()); }

 private:
  void copy(PlainBuffer const& to, PlainBuffer const& from, Stream stream) const {
    make_copy_twin({CopyLayout::contiguous, 1, bytes / sizeof(double)}, CopyDirection::to_device,
                   stream)
        ->enqueue(static_cast<double*>(to.get()), static_cast<double const*>(from.get()));
  }

  // As nvbandwidth.
  std::size_t const bytes = std::size_t(twins_use_cuda ? 512 : 64) << 20;

  Ranks const& m_ranks;
  Stopwatch m_stopwatch;
  PlainBuffer m_host[2]   = {make_plain_buffer(PlainKind::pinned, bytes),
                             make_plain_buffer(PlainKind::pinned, bytes)};
  PlainBuffer m_device[2] = {make_plain_buffer(PlainKind::device, bytes),
                             make_plain_buffer(PlainKind::device, bytes)};
};

// What the links and the memory of this machine can do while all ranks use them at once, by plain
// copies of large blocks; takes a second.
std::vector<Limit> measure_limits(Ranks const& ranks) {
  Links links(ranks);
  // A copy on the device reads and writes its memory.
  double const on_device = links.rate(2, [&] { links.on_device(); });
  if (!twins_use_cuda) return {{"host_memory", on_device}};
  double const to_device = links.rate(1, [&] { links.to_device(); });
  double const to_host   = links.rate(1, [&] { links.to_host(); });
  double const both      = links.rate(2, [&] {
    links.to_device();
    links.to_host();
  });
  return {
      {"to_device", to_device}, {"to_host", to_host}, {"both", both}, {"device_memory", on_device}};
}

}  // namespace

void describe_context(Effort const& effort, Ranks const& ranks, std::string const& cores) {
  std::vector<Limit> const limits = measure_limits(ranks);  // wakes the link up, too
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration);
  add("mode", name(effort.mode));
  add("ranks", std::to_string(ranks.size()));
  add("gpus", std::to_string(twins_use_cuda ? ranks.size() : 0));
  add_device();
  add("huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  add("kokkos_version", kokkos_version());
  add("kokkos_configuration", configuration.str());
  add("execution_space", Kokkos::DefaultHostExecutionSpace::name());
  add("host_threads", std::to_string(Kokkos::DefaultHostExecutionSpace().concurrency()));
  add("cores_of_first_rank", cores);
  add("compiler", compiler());
  add("commit", KOKKOS_HOST_SPACES_COMMIT);
  for (Limit const& limit : limits)
    add("limit_" + limit.name, std::to_string(limit.bytes_per_second));
}

}  // namespace KokkosHostSpaces::Perf
