// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/Driver.hpp"
#include "../support/DeviceWork.hpp"
#include "Device.hpp"

#include <catch2/catch_test_macros.hpp>

void start_test(int devices, bool used) {
  int const found = KokkosHostSpaces::Impl::Backend::Driver::device_count();
  if (found < devices) SKIP("needs " << devices << " GPUs, found " << found);
  if (used) DeviceWork::use(0);
}
