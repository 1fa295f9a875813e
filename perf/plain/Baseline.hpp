// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_BASELINE_HPP

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// A cudaStream_t; ignored without a device.
using Stream = void*;

/// The plain side of a benchmark. Each group derives a class whose functions enqueue work on a stream
/// (without a device, carry it out). <Group>BaselineCuda.cpp implements it in CUDA,
/// <Group>BaselineHost.cpp by C++ loops; neither includes Kokkos or this library.
class Baseline {
 public:
  Baseline()                           = default;
  Baseline(Baseline const&)            = delete;
  Baseline& operator=(Baseline const&) = delete;
  virtual ~Baseline()                  = default;

  /// Names of its variants, such as block sizes, of which the first is the default.
  virtual std::vector<std::string> variants() const = 0;
  virtual void choose(int /*variant*/) {}
};

}  // namespace KokkosHostSpaces::Perf

#endif
