// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "KokkosVectorImpl.hpp"

#include <KokkosHostSpaces/WriteCombinedSpace.hpp>

template struct KokkosHostSpaces::Perf::KokkosVector<KokkosHostSpaces::WriteCombinedSpace, float>;
template struct KokkosHostSpaces::Perf::KokkosVector<KokkosHostSpaces::WriteCombinedSpace, double>;
