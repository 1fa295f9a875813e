// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A partition of the rows of a streamed loop, one part for each device.

#ifndef KOKKOS_HOST_SPACES_IMPL_DEVICE_PARTITION_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEVICE_PARTITION_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// The shares of devices in a loop, by the rates of their links: 1 for the fastest and, in sixteenths, less
/// for slower ones, so that noise does not change the parts from run to run; 1 for all if one rate is 0,
/// which is unknown.
std::vector<double> weights_by(std::vector<double> const& rates);

/// Partitions a shape so that one part stores each row. A part also loads the rows of its neighbours
/// that its halos reach, and computes the rows of intermediate arrays there that its stages read.
/// \param weights of the parts, proportional to their rates
/// \param multiple the cuts lie at multiples of this number of rows, counted from the first row
std::vector<StreamShape> split_stream(StreamShape const& shape, std::vector<double> const& weights,
                                      std::int64_t multiple = 1);

/// Rows that a part loads and another part stores: they are copied before any part stores.
struct RowsToSave {
  int buffer;
  StreamRows rows;
  bool above;  ///< the part's own rows; else below them
};
std::vector<RowsToSave> rows_to_save(std::string const& label, StreamShape const& part);

}  // namespace KokkosHostSpaces::Impl

#endif
