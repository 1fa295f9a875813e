// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Compiles the allocation records of the three spaces once, and is told of Kokkos::initialize.

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>

#include "../../../backend/pool/Pool.hpp"
#include "../../../backend/Registry.hpp"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <string>

#ifndef KOKKOS_IMPL_PUBLIC_INCLUDE
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#endif
#include <impl/Kokkos_ExecSpaceManager.hpp>
#include <impl/Kokkos_SharedAlloc_timpl.hpp>

KOKKOS_IMPL_SHARED_ALLOCATION_RECORD_EXPLICIT_INSTANTIATION(KokkosHostSpaces::PinnedSpace);
KOKKOS_IMPL_SHARED_ALLOCATION_RECORD_EXPLICIT_INSTANTIATION(KokkosHostSpaces::MappedSpace);
KOKKOS_IMPL_SHARED_ALLOCATION_RECORD_EXPLICIT_INSTANTIATION(KokkosHostSpaces::WriteCombinedSpace);

namespace KokkosHostSpaces::Impl {

char const KOKKOS_HOST_SPACES_IMPL_CONTAINERS = 0;
char const KOKKOS_HOST_SPACES_IMPL_STRINGS    = 0;

namespace {

// Kokkos::initialize initializes what is registered as an execution space, by the order of names.
struct BehindDevices : Kokkos::Impl::ExecSpaceBase {
  void initialize(Kokkos::InitializationSettings const&) override {
    Backend::Pool::lock_waiting();
    Backend::lock_waiting_ranges();
  }
  void finalize() override {}
  void static_fence(std::string const&) override {}
  void print_configuration(std::ostream&, bool) override {}
};

}  // namespace

void lock_when_initialized() {
  static std::once_flag registered;
  if (Kokkos::is_initialized()) return;
  std::call_once(registered, [] {
    // Two copies of this library in a process have two names; those of devices begin with 150 or 170.
    auto const name =
        "900_KokkosHostSpaces_" + std::to_string(reinterpret_cast<std::uintptr_t>(&registered));
    Kokkos::Impl::ExecSpaceManager::get_instance().register_space_factory(
        name, std::make_unique<BehindDevices>());
  });
}

}  // namespace KokkosHostSpaces::Impl
