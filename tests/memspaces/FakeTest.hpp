// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What tests include of what runs on the fake CUDA runtime without Kokkos.

#ifndef KOKKOS_HOST_SPACES_TESTS_MEMSPACES_FAKE_TEST_HPP
#define KOKKOS_HOST_SPACES_TESTS_MEMSPACES_FAKE_TEST_HPP

#include "../../backend/Driver.hpp"
#include "../../backend/Error.hpp"
#include "../support/ChildOfFork.hpp"
#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"
#include "../support/Tests.hpp"
#include "../support/WatchedThread.hpp"
#include "Rounds.hpp"

#endif
