// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What was copied, how much, and how fast: also for perf/tools/audit/, so it includes
// nothing of the backend.

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RECORDER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RECORDER_HPP

#include <chrono>
#include <cstdint>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// In seconds, of a clock that does not jump.
inline double now() noexcept {
  auto const since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

/// Sums of copies, or of what else has bytes. `timed` are those whose time is known, as of copies that the
/// host waited for.
struct Recorder {
  std::uint64_t count = 0, bytes = 0, timed_bytes = 0;
  double seconds = 0;

  /// \param time in seconds; 0: not known
  void add(std::uint64_t of_bytes, double time = 0) noexcept {
    ++count;
    bytes += of_bytes;
    if (time <= 0) return;
    timed_bytes += of_bytes;
    seconds += time;
  }

  /// In bytes per second; 0 if none was timed.
  double rate() const noexcept { return seconds > 0 ? double(timed_bytes) / seconds : 0; }
};

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
