// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A streamed loop on several devices: each has a part of the rows.

#ifndef KOKKOS_HOST_SPACES_IMPL_DEVICE_PARTITION_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEVICE_PARTITION_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Cuts a shape, so that each row is stored by one part. A part loads the rows of its neighbours
/// that its halos need, and makes again what its stages need of intermediate arrays there.
/// \param weights of the parts: their rates
/// \param multiple of rows at which is cut, counted from the first one
std::vector<StreamShape> split_stream(StreamShape const& shape, std::vector<double> const& weights,
                                      std::int64_t multiple = 1);

/// Rows that a part loads and another stores: to be copied before anything is stored.
struct RowsToSave {
  int buffer;
  StreamRows rows;
  bool above;  ///< of the part's own rows; else below
};
std::vector<RowsToSave> rows_to_save(std::string const& label, StreamShape const& part);

}  // namespace KokkosHostSpaces::Impl

#endif
