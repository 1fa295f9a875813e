// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_BUSY_DEVICE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_BUSY_DEVICE_HPP

#include <memory>

namespace KokkosHostSpaces::Perf {

/// Runs a kernel on each of several streams, until its destruction. The kernels also end after a time limit,
/// so that a call that waits for them returns.
class BusyDevice {
 public:
  BusyDevice(int streams, double longest_seconds);
  ~BusyDevice();

  /// Whether all kernels still run.
  bool is_busy() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace KokkosHostSpaces::Perf

#endif
