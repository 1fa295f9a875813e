// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_ERROR_HPP
#define KOKKOS_HOST_SPACES_ERROR_HPP

#include <KokkosHostSpaces/backend/Error.hpp>

#endif
