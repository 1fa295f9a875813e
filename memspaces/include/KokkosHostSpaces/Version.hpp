// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_VERSION_HPP
#define KOKKOS_HOST_SPACES_VERSION_HPP

/// \file
/// The version of this library for the preprocessor. The build fails if it differs from CMake's.

#define KOKKOS_HOST_SPACES_VERSION_MAJOR 1  ///< of this library
#define KOKKOS_HOST_SPACES_VERSION_MINOR 0  ///< of this library
#define KOKKOS_HOST_SPACES_VERSION_PATCH 0  ///< of this library

/// One number, as Kokkos has it: 10203 is 1.2.3.
#define KOKKOS_HOST_SPACES_VERSION                                                     \
  (KOKKOS_HOST_SPACES_VERSION_MAJOR * 10000 + KOKKOS_HOST_SPACES_VERSION_MINOR * 100 + \
   KOKKOS_HOST_SPACES_VERSION_PATCH)

#endif
