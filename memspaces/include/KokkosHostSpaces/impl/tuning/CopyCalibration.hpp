// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Finds thresholds of copies on a machine: both ways of doing a copy are timed at some sizes, and
// the size is taken from which on the other one is faster. Never done for a copy, but only when
// somebody asks for it.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_CALIBRATION_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_CALIBRATION_HPP

#include <KokkosHostSpaces/impl/tuning/Calibration.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// One copy, in one way, to be timed.
struct CopyTrial {
  enum class Way {
    rows_by_kernel,    ///< rows of `bytes`, with gaps
    rows_by_engine,    ///< the same by the copy engine
    turned_in_place,   ///< `bytes` in all, in another order of dimensions, by tiles
    turned_by_slabs,   ///< the same through memory of the device
    pieces_by_kernel,  ///< `pieces` of `bytes`
    pieces_by_call,    ///< the same by one call of the driver
  };
  Way way;
  bool to_device;
  std::size_t bytes;
  std::size_t pieces = 0;
};

/// Seconds that it takes; no positive number if it cannot be done.
using CopyClock = std::function<double(CopyTrial const& trial)>;

/// What two ways take at a size.
struct CopyTimes {
  std::size_t bytes;
  double below, above;  ///< seconds of the way for sizes below the threshold, and of the other
};

/// How much longer than in the better way copies of these sizes take in all, each in relation to
/// itself, if the way above is taken from `threshold` on.
double loss_of(std::vector<CopyTimes> const& times, std::size_t threshold);

/// Thresholds by which these copies are fastest; `before` where others would win less than what is
/// noise.
CopyThresholds measure_thresholds(CopyThresholds const& before, CopyClock const& clock);

struct CopyCalibration {
  std::string report;  ///< rates, old and new thresholds, and where they are kept
  bool kept;
};

/// Measures rates and thresholds of a GPU, and keeps them in `file` (empty: nowhere). Nothing if the
/// rates cannot be measured now.
std::optional<CopyCalibration> calibrate(std::string const& file, CalibratedLink gpu,
                                         std::function<std::optional<LinkRates>()> const& rates,
                                         CopyClock const& clock);

/// All of it for all devices of this process; Kokkos is initialised by it. False if something could
/// not be measured or kept.
bool calibrate_this_machine(std::ostream& out);

}  // namespace KokkosHostSpaces::Impl

#endif
