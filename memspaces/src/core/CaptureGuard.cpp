// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/CaptureGuard.hpp>

#include "../../../backend/Driver.hpp"

namespace KokkosHostSpaces::pool {

CaptureGuard::CaptureGuard() noexcept { Impl::Backend::Driver::announce_capture(); }
CaptureGuard::~CaptureGuard() { Impl::Backend::Driver::end_announced_capture(); }

}  // namespace KokkosHostSpaces::pool
