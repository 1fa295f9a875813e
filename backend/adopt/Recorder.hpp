// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RECORDER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RECORDER_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// Counts copies of one direction and one kind of memory of the host. `timed` are those which the host
/// waited for, so that their time is known. Depends on nothing else. Thread-safe.
struct Recorder {
  std::atomic<std::uint64_t> count{0}, bytes{0}, timed_bytes{0}, nanoseconds{0};

  /// \param time in nanoseconds; 0: not known
  void copied(std::size_t copied_bytes, std::uint64_t time) noexcept {
    ++count;
    bytes += copied_bytes;
    if (time == 0) return;
    timed_bytes += copied_bytes;
    nanoseconds += time;
  }

  /// In GB/s; 0 if none was timed.
  double rate() const noexcept {
    return nanoseconds == 0 ? 0 : double(timed_bytes) / double(nanoseconds);
  }
};

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
