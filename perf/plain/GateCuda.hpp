// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_GATE_CUDA_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_GATE_CUDA_HPP

#include <cuda_runtime.h>

namespace KokkosHostSpaces::Perf {

/// Blocks a stream by a kernel that polls until the gate is opened, or until a time limit.
class Gate {
 public:
  Gate();
  ~Gate();
  Gate(Gate const&)            = delete;
  Gate& operator=(Gate const&) = delete;

  void close(cudaStream_t stream, double give_up_after_seconds);
  void open() noexcept;

  bool is_reached() const;  ///< whether the kernel has begun
  bool gave_up() const;

  /// Flags in page-locked memory, which the kernel polls.
  struct Flags {
    int open, reached, gave_up;
  };

 private:
  Flags* m_flags;
};

}  // namespace KokkosHostSpaces::Perf

#endif
