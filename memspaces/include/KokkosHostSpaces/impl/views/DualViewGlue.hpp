// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What touches the inside of Kokkos::DualView. KokkosGlue refuses other versions of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_DUAL_VIEW_GLUE_HPP
#define KOKKOS_HOST_SPACES_IMPL_DUAL_VIEW_GLUE_HPP

#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>

#include <Kokkos_DualView.hpp>

namespace KokkosHostSpaces::Impl {

/// Parts of a DualView that it shows only to classes which are derived from it.
template <class Dual>
struct PartsOf : Dual {
  /// How often the host's side and the device's were modified: memory that copies share.
  static auto& flags(Dual& dual) { return dual.*&PartsOf::modified_flags; }

  /// Is it the device's side that `Device` names?
  template <class Device>
  static bool is_device_side() {
    return Dual::template get_device_side<Device>() == 1;
  }

  /// Tells the tools that the device's side, or the host's, was brought up to date.
  static void report_device_sync(Dual const& dual) { (dual.*&PartsOf::impl_report_device_sync)(); }
  static void report_host_sync(Dual const& dual) { (dual.*&PartsOf::impl_report_host_sync)(); }
};

}  // namespace KokkosHostSpaces::Impl

#endif
