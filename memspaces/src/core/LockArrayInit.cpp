// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/LockArrayInit.hpp>

#include "../../../backend/Driver.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>
#include <bit>
#include <mutex>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// Initialised before all sources, and usable after them, in whatever order they come and go.
constinit std::mutex list_mutex;
constinit LockArrayInit* unprepared = nullptr;
constinit std::atomic<bool> some_are_unprepared{false};
constinit std::atomic<unsigned> asked{0};

// The less often, the longer the device is busy: asking takes microseconds.
bool shall_ask() noexcept {
  return some_are_unprepared.load(std::memory_order_relaxed) && Kokkos::is_initialized() &&
         std::has_single_bit(asked.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace

LockArrayInit::LockArrayInit(void (*prepare)()) noexcept : m_prepare(prepare) {
  std::lock_guard const lock(list_mutex);
  m_next     = unprepared;
  unprepared = this;
  asked      = 0;
  some_are_unprepared.store(true);
}

// Of a library that is unloaded, too.
LockArrayInit::~LockArrayInit() {
  std::lock_guard const lock(list_mutex);
  for (LockArrayInit** source = &unprepared; *source != nullptr; source = &(*source)->m_next) {
    if (*source != this) continue;
    *source = m_next;
    return;
  }
}

// Kokkos has one lock array, on its own device.
void LockArrayInit::prepare_all() noexcept {
  if (!shall_ask()) return;
  int const device = Kokkos::device_id();
  if (Driver::current_device() != device) return;
  Driver::do_if_idle(device, [] {
    std::lock_guard const lock(list_mutex);
    for (; unprepared != nullptr; unprepared = unprepared->m_next) unprepared->m_prepare();
    some_are_unprepared.store(false);
  });
}

}  // namespace KokkosHostSpaces::Impl
