// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "KokkosVectorImpl.hpp"

#include <KokkosHostSpaces/MappedSpace.hpp>

template struct KokkosHostSpaces::Perf::KokkosVector<KokkosHostSpaces::MappedSpace, float>;
template struct KokkosHostSpaces::Perf::KokkosVector<KokkosHostSpaces::MappedSpace, double>;
