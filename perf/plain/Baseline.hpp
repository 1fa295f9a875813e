// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_BASELINE_HPP

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// A cudaStream_t; ignored without a device.
using Stream = void*;

/// The plain side of a benchmark. Each group derives one with the functions that enqueue its work
/// on a stream (without a device: carry it out), and has a function that makes it, of CUDA in
/// <Group>BaselineCuda.cpp, of C++ loops in <Group>BaselineHost.cpp. Neither includes Kokkos or this
/// library.
class Baseline {
 public:
  Baseline()                           = default;
  Baseline(Baseline const&)            = delete;
  Baseline& operator=(Baseline const&) = delete;
  virtual ~Baseline()                  = default;

  /// Ways to do it, such as block sizes, and the choice of one; the first is chosen at the
  /// beginning.
  virtual std::vector<std::string> variants() const = 0;
  virtual void choose(int /*variant*/) {}
};

}  // namespace KokkosHostSpaces::Perf

#endif
