// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "KokkosVectorImpl.hpp"

KOKKOS_HOST_SPACES_PERF_INSTANTIATE_VECTOR(Kokkos::CudaHostPinnedSpace)
