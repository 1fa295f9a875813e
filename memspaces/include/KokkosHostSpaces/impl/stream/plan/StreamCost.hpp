// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_COST_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_COST_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CostModel.hpp>

namespace KokkosHostSpaces::Impl {

/// Returns what the cost model needs to know of a streamed loop: passes, and the bytes of the rows
/// that its stages read and write.
LoopCost cost_of(StreamShape const& shape);

}  // namespace KokkosHostSpaces::Impl

#endif
