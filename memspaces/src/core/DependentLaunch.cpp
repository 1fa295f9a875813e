// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Streams.hpp>
#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>

#include "../../../backend/Driver.hpp"
#include "../../../backend/os/Fork.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// Kernels that are nodes, by their addresses. Never destroyed: static destructors erase kernels,
// also those of a library that is closed.
struct Nodes {
  struct Kernel {
    DependentLaunch const* owner;
    std::uint64_t devices;  // a bit for each
  };
  std::mutex mutex{};
  std::unordered_map<void const*, Kernel> kernels{};
};
Nodes& nodes() {
  static Nodes& all = *new Nodes;
  return all;
}

static_assert(DependentLaunch::most_devices == Driver::max_devices);

// Marks a device on which the kernel cannot start early.
void* none() {
  static char mark;
  return &mark;
}

}  // namespace

DependentLaunch::~DependentLaunch() {
  if (!m_has_nodes || Backend::is_forked_child())
    return;  // a thread of the parent may hold the mutex
  std::lock_guard const lock(nodes().mutex);
  std::erase_if(nodes().kernels, [this](auto const& entry) { return entry.second.owner == this; });
}

// Returns nullptr if there is none, or if the driver could not be asked: the next launch asks
// again.
void* DependentLaunch::function_on(int device) noexcept {
  std::atomic<void*>& of_device = m_functions.at(std::size_t(device));
  void* known                   = of_device.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto const function = Driver::dependent_launch_handle(m_kernel, device);
    if (!function) return nullptr;
    known = *function != nullptr ? *function : none();
    of_device.store(known, std::memory_order_release);
  }
  return known != none() ? known : nullptr;
}

bool DependentLaunch::launch(unsigned blocks, unsigned threads, void const* argument,
                             StreamHandle stream, int device) noexcept {
  if (m_functions.at(std::size_t(device)).load(std::memory_order_relaxed) == none() ||
      Driver::is_default_stream(stream) || Driver::is_capturing(stream))
    return false;
  void* const function = function_on(device);
  return function != nullptr &&
         Driver::launch_dependent(function, blocks, threads, const_cast<void*>(argument), stream,
                                  device);
}

void DependentLaunch::be_node(void* node, int device) noexcept {
  void const* const kernel = Driver::kernel_of_node(node);
  if (kernel == nullptr) return;
  try {
    std::lock_guard const lock(nodes().mutex);
    Nodes::Kernel& of_kernel = nodes().kernels[kernel];
    of_kernel.owner          = this;
    of_kernel.devices |= std::uint64_t(1) << device;
    m_has_nodes = true;
  } catch (std::bad_alloc const&) {  // the node, already in the graph, starts as usual
  }
}

void DependentLaunch::start_nodes_early(void* graph) {
  Driver::make_dependent_edges(graph, may_start_early);
}

bool DependentLaunch::may_start_early(void const* before, void const* kernel) {
  std::lock_guard const lock(nodes().mutex);
  auto const first = nodes().kernels.find(before), then = nodes().kernels.find(kernel);
  if (first == nodes().kernels.end() || then == nodes().kernels.end()) return false;
  std::uint64_t const devices = first->second.devices | then->second.devices;
  return std::has_single_bit(devices) &&
         Driver::supports_dependent_launch(kernel, std::countr_zero(devices));
}

}  // namespace KokkosHostSpaces::Impl
