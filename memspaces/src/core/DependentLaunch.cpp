// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Streams.hpp>
#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>

#include "../../../backend/Driver.hpp"

#include <cstddef>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

static_assert(DependentLaunch::most_devices == Driver::max_devices);

// Marks a device on which the kernel cannot start early.
void* none() {
  static char mark;
  return &mark;
}

}  // namespace

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

}  // namespace KokkosHostSpaces::Impl
