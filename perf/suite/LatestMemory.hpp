// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATEST_MEMORY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATEST_MEMORY_HPP

#include <memory>
#include <typeindex>

namespace KokkosHostSpaces::Perf {

/// The memory that consecutive benchmarks share: making page-locked memory takes longer than most
/// of what is measured. Of one type at a time, so that no two groups' memory has to fit.
class LatestMemory {
 public:
  /// The latest `Memory` if it was the latest that was asked for, else Memory(arguments...).
  template <class Memory, class... Arguments>
  std::shared_ptr<Memory> of(Arguments const&... arguments) {
    if (m_type != typeid(Memory)) {
      m_type = typeid(void);
      m_memory.reset();
      m_memory = std::make_shared<Memory>(arguments...);
      m_type   = typeid(Memory);
    }
    return std::static_pointer_cast<Memory>(m_memory);
  }

 private:
  std::type_index m_type = typeid(void);
  std::shared_ptr<void> m_memory;
};

/// The one that all groups share; it lives as long as someone keeps it, and so ends with the cases.
inline std::shared_ptr<LatestMemory> latest_memory() {
  static std::weak_ptr<LatestMemory> latest;
  std::shared_ptr<LatestMemory> result = latest.lock();
  if (!result) latest = result = std::make_shared<LatestMemory>();
  return result;
}

}  // namespace KokkosHostSpaces::Perf

#endif
