// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "KokkosVectorImpl.hpp"

template struct KokkosHostSpaces::Perf::KokkosVector<
    KokkosHostSpaces::Perf::Execution::memory_space, float>;
template struct KokkosHostSpaces::Perf::KokkosVector<
    KokkosHostSpaces::Perf::Execution::memory_space, double>;
