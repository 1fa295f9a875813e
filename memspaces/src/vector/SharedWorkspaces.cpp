// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionResult.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>

#include <Kokkos_Core.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

// Never destroyed: kernels may run until Kokkos is finalized, and static objects may end before.
void* reduction_workspace(void* stream, int device, std::size_t bytes) {
  static ReductionWorkspaces* const all = [] {
    auto* const made = new ReductionWorkspaces;
    at_finalize([made] { made->clear(); });
    return made;
  }();
  return all->of(stream, device, bytes);
}

namespace {

// Page-locked memory of the pool by device, kept until Kokkos is finalized: for the pool each free
// block is one that the device may still use.
struct Spare {
  std::mutex mutex{};
  std::map<int, std::vector<std::unique_ptr<PoolMemory>>> of_devices{};

  Spare() {
    at_finalize([this] {
      std::lock_guard const lock(mutex);
      of_devices.clear();
    });
  }
};
Spare& spare() {
  static Spare& all = *new Spare;
  return all;
}

}  // namespace

ResultSlot::ResultSlot(int device) : m_device(device) {
  {
    std::lock_guard const lock(spare().mutex);
    auto& of_device = spare().of_devices[device];
    if (!of_device.empty()) {
      m_memory = std::move(of_device.back());
      of_device.pop_back();
      return;
    }
  }
  m_memory = std::make_unique<PoolMemory>(device, "KokkosHostSpaces: result of a reduction", bytes);
}

ResultSlot::~ResultSlot() {
  try {
    std::lock_guard const lock(spare().mutex);
    spare().of_devices[m_device].push_back(std::move(m_memory));
  } catch (std::bad_alloc const&) {  // goes back to the pool
  }
}

void* ResultSlot::data() const { return m_memory->data(); }

}  // namespace KokkosHostSpaces::Impl
