// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/CopyViews.hpp>

#ifdef KOKKOS_ENABLE_CUDA

#include <map>
#include <mutex>

namespace KokkosHostSpaces::Impl {

// Instances own scratch memory of Kokkos, which takes long to make, and must be gone when Kokkos is
// finalized.
Kokkos::Cuda private_instance(int device) {
  static std::mutex mutex;
  static std::map<int, Kokkos::Cuda> instances;
  if (device < 0) device = Kokkos::device_id();
  std::lock_guard const lock(mutex);
  if (instances.empty())
    Kokkos::push_finalize_hook([] {
      std::lock_guard const again(mutex);
      instances.clear();
    });
  auto found = instances.find(device);
  if (found == instances.end())
    found = instances.emplace(device, static_cast<cudaStream_t>(private_stream(device))).first;
  return found->second;
}

}  // namespace KokkosHostSpaces::Impl

#endif
