// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_PICTURE_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_PICTURE_HPP

#include "Decomposition.hpp"
#include "Field.hpp"
#include "Processes.hpp"

#include <string>
#include <vector>

namespace Heat {

/// Slices through the middle of z, one after the other, for a file that numpy reads (plot.py).
class Picture {
 public:
  Picture(Decomposition const& decomposition, Processes const& processes)
      : m_decomposition(decomposition), m_processes(processes) {}

  /// Gathers a slice of the field as it is now. All processes call it. Waits.
  void add(Field const& field);

  /// An array of (slices, y, x) numbers in the .npy format, by rank 0. \throw std::runtime_error
  void write(std::string const& file) const;

 private:
  Decomposition const& m_decomposition;
  Processes const& m_processes;
  std::vector<std::vector<double>> m_slices;  ///< complete on rank 0
};

}  // namespace Heat

#endif
