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

// Usable in any order of the initialisation and destruction of sources.
constinit std::mutex list_mutex;
constinit LockArrayInit* unprepared = nullptr;
constinit std::atomic<bool> some_are_unprepared{false};
constinit std::atomic<unsigned> asked{0};

// Asks at the 1st, 2nd, 4th, 8th ... call: asking takes microseconds.
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

// Also runs when a library is unloaded.
LockArrayInit::~LockArrayInit() {
  std::lock_guard const lock(list_mutex);
  for (LockArrayInit** source = &unprepared; *source != nullptr; source = &(*source)->m_next) {
    if (*source != this) continue;
    *source = m_next;
    return;
  }
}

// Kokkos has one lock array, on its default device.
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
