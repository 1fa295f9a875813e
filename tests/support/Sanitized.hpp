// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_SANITIZED_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_SANITIZED_HPP

/// Whether this is a build with a sanitizer, which takes times and memory of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

#endif
