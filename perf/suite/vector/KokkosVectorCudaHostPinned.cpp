// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "KokkosVectorImpl.hpp"

template struct KokkosHostSpaces::Perf::KokkosVector<Kokkos::CudaHostPinnedSpace, float>;
template struct KokkosHostSpaces::Perf::KokkosVector<Kokkos::CudaHostPinnedSpace, double>;
