// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Those thresholds of copies that are measured on a machine: how they are kept beside the rates of
// its links (Calibration.hpp), a line each, and what is said of them.

#ifndef KOKKOS_HOST_SPACES_IMPL_THRESHOLD_FILE_HPP
#define KOKKOS_HOST_SPACES_IMPL_THRESHOLD_FILE_HPP

#include <KokkosHostSpaces/impl/tuning/Calibration.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

struct MeasuredThreshold {
  std::string key;      ///< in the file
  std::string meaning;  ///< for people
  std::size_t least, most;
  std::size_t& (*of)(CopyThresholds& all);

  std::size_t in(CopyThresholds const& all) const { return of(const_cast<CopyThresholds&>(all)); }
};

/// All of them, in bytes.
std::vector<MeasuredThreshold> const& measured_thresholds();

/// The table with what these lines say. What is unknown is ignored; a value that makes no sense
/// leaves the table's, and its line is added to `broken`.
CopyThresholds thresholds_in(std::vector<std::string> const& lines,
                             std::vector<std::string>& broken);

/// Those that a file has of a GPU, else the table's. What is broken is told of in one line.
CopyThresholds thresholds_in_file(std::string const& file, CalibratedLink const& gpu,
                                  std::function<void(std::string const&)> const& tell);

/// The lines with all measured thresholds; others stay as they are.
std::vector<std::string> with_thresholds(std::vector<std::string> lines,
                                         CopyThresholds const& thresholds);

/// Old and new value of each, a line each, and what it means.
std::string changes(CopyThresholds const& before, CopyThresholds const& after);

}  // namespace KokkosHostSpaces::Impl

#endif
