// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_TWIN_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_TWIN_HPP

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// A cudaStream_t; ignored without a device.
using Stream = void*;

/// The plain side of a benchmark. Each group derives one with the functions that enqueue its work
/// on a stream (without a device: carry it out), and has a function that makes it, of CUDA in
/// <Group>TwinCuda.cpp, of C++ loops in <Group>TwinHost.cpp. Neither includes Kokkos or this
/// library.
class Twin {
 public:
  Twin()                       = default;
  Twin(Twin const&)            = delete;
  Twin& operator=(Twin const&) = delete;
  virtual ~Twin()              = default;

  /// Ways to do it, such as block sizes, and the choice of one; the first is chosen at the
  /// beginning.
  virtual std::vector<std::string> variants() const = 0;
  virtual void choose(int /*variant*/) {}
};

}  // namespace KokkosHostSpaces::Perf

#endif
