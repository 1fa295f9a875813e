// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How long copies take on the device, which nobody waits for: by CUPTI, if it can be loaded. What
// CUDA calls a thread makes within a copy is marked with the number of the copy's pair of labels;
// CUPTI's records of what the copy engines did carry these marks. No fence is added.

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_CUPTI_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_CUPTI_HPP

#include <cstdint>
#include <string>
#include <unordered_map>

namespace KokkosHostSpaces::Audit {

/// What copy engines did for a pair.
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

/// Begins to listen, unless somebody else uses CUPTI.
void start();

/// Of the calling thread, around a copy.
void begin_copy(std::uint64_t pair) noexcept;
void end_copy() noexcept;

/// Ends; what is not done on the device by now is left out.
EngineRecords stop();

}  // namespace Cupti

}  // namespace KokkosHostSpaces::Audit

#endif
