// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../support/FakeCuda.hpp"
#include "Device.hpp"

#include <cstdlib>

// tests/environments.sh plays an older CUDA.
void start_test(int devices, bool used) {
  FakeCuda::reset(devices, used);
  if (std::getenv("KOKKOS_HOST_SPACES_TEST_OLD_CUDA") != nullptr) FakeCuda::use_old_driver();
}
