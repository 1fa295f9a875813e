// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_DRIVER_SPY_HPP
#define KOKKOS_HOST_SPACES_TESTS_DRIVER_SPY_HPP

#include <cstddef>
#include <set>

/// What was asked of the CUDA runtime's functions for copies and launches since it was made, by
/// anybody in this program; DriverSpy.cpp stands between. One at a time.
class DriverSpy {
 public:
  DriverSpy();
  ~DriverSpy();
  DriverSpy(DriverSpy const&)            = delete;
  DriverSpy& operator=(DriverSpy const&) = delete;

  /// For DriverSpy.cpp.
  static void copied(std::size_t bytes, void* stream);
  static void launched();
  static void copied_batch(std::size_t const* bytes, std::size_t count, void* stream);

  std::size_t copies   = 0;
  std::size_t batches  = 0;  ///< calls of cuMemcpyBatchAsync, which are not among the copies
  std::size_t launches = 0;  ///< of kernels, by `<<<>>>`, and of graphs
  std::size_t bytes    = 0;
  std::set<void*> streams;
};

#endif
