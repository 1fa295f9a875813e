// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/Backend.hpp>

#include "../../backend/Driver.hpp"

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

namespace {

// The handles 0, 1 and 2 are those of the legacy default stream, and of that of a thread.
bool is_default_stream(StreamHandle stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

static_assert(EarlyKernel::most_devices == Driver::max_devices);

}  // namespace

bool EarlyKernel::launch(unsigned blocks, unsigned threads, void const* argument,
                         StreamHandle stream, int device) noexcept {
  std::atomic<Can>& of_device = m_can.at(std::size_t(device));
  Can can                     = of_device.load(std::memory_order_relaxed);
  if (can == Can::no || is_default_stream(stream) || Driver::is_capturing(stream)) return false;
  if (can == Can::unknown) {
    can = Driver::can_start_early(m_kernel, device) ? Can::yes : Can::no;
    of_device.store(can, std::memory_order_relaxed);
    if (can == Can::no) return false;
  }
  return Driver::launch_early(m_kernel, blocks, threads, const_cast<void*>(argument), stream,
                              device);
}

}  // namespace KokkosHostSpaces::Impl
