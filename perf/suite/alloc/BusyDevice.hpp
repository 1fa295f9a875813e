// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_BUSY_DEVICE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_BUSY_DEVICE_HPP

#include <memory>

namespace KokkosHostSpaces::Perf {

/// Runs a kernel until its destruction. The kernel also ends after a time limit, so that a call that waits for it
/// returns.
class BusyDevice {
 public:
  explicit BusyDevice(double longest_seconds);
  ~BusyDevice();

  /// Whether the kernel still runs.
  bool is_busy() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace KokkosHostSpaces::Perf

#endif
