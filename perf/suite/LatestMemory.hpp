// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATEST_MEMORY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATEST_MEMORY_HPP

#include <memory>
#include <typeindex>

namespace KokkosHostSpaces::Perf {

/// Caches the arrays of consecutive benchmarks, since page-locking takes longer than most measurements.
/// Holds one type at a time, so that the arrays of two groups never have to fit together.
class LatestMemory {
 public:
  /// Returns the cached `Memory` if its type matches; else replaces it with Memory(arguments...).
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

/// The cache that all groups share. It is destroyed with the last case that holds it.
inline std::shared_ptr<LatestMemory> latest_memory() {
  static std::weak_ptr<LatestMemory> latest;
  std::shared_ptr<LatestMemory> result = latest.lock();
  if (!result) latest = result = std::make_shared<LatestMemory>();
  return result;
}

}  // namespace KokkosHostSpaces::Perf

#endif
