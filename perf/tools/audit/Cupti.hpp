// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Measures how long copies take on the device, by CUPTI if it can be loaded, without fences. Marks the CUDA
// calls of a thread within a copy with the number of its pair of labels; CUPTI's records of the copy
// engines carry these marks.

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_CUPTI_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_CUPTI_HPP

#include <cstdint>
#include <string>
#include <unordered_map>

namespace KokkosHostSpaces::Audit {

/// Work of the copy engines for a pair.
struct EngineCopies {
  std::uint64_t copies = 0, bytes = 0;
  double seconds = 0;
};

struct EngineRecords {
  std::unordered_map<std::uint64_t, EngineCopies> of_pair;
  bool listened = false;
  std::string why_not;  ///< one line; empty, too, if the program has no CUDA
};

namespace Cupti {

/// Begins to listen, unless another tool uses CUPTI.
void start();

/// Marks the CUDA calls of the calling thread, around a copy.
void begin_copy(std::uint64_t pair) noexcept;
void end_copy() noexcept;

/// Stops listening; leaves out copies that are not done on the device.
EngineRecords stop();

}  // namespace Cupti

}  // namespace KokkosHostSpaces::Audit

#endif
