// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Access to protected members of Kokkos::DualView.

#ifndef KOKKOS_HOST_SPACES_IMPL_DUAL_VIEW_GLUE_HPP
#define KOKKOS_HOST_SPACES_IMPL_DUAL_VIEW_GLUE_HPP

#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>

#include <Kokkos_DualView.hpp>

namespace KokkosHostSpaces::Impl {

/// Reaches protected members of any DualView of this type.
template <class Dual>
struct DualViewAccess : Dual {
  /// The View of modification counts, host and device, that copies of a DualView share.
  static auto& flags(Dual& dual) { return dual.*&DualViewAccess::modified_flags; }

  /// True if `Device` names the device side.
  template <class Device>
  static bool is_device_side() {
    return Dual::template get_device_side<Device>() == 1;
  }

  /// Report to Kokkos Tools that a side was synchronised.
  static void report_device_sync(Dual const& dual) {
    (dual.*&DualViewAccess::impl_report_device_sync)();
  }
  static void report_host_sync(Dual const& dual) {
    (dual.*&DualViewAccess::impl_report_host_sync)();
  }
};

}  // namespace KokkosHostSpaces::Impl

#endif
