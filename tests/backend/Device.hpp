// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_DEVICE_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_DEVICE_HPP

/// Begins a test that wants so many devices. Each executable has its own: the fake runtime is made
/// new with that many, the real one skips the test where there are fewer, the host driver never has
/// any. Device 0 has a context and is current, or no device has one if `used` is false.
void start_test(int devices, bool used = true);

#endif
