// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RECORDER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RECORDER_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

enum class Direction { to_host, to_device };
enum class HostSide { pageable, locked, others };  ///< `others`: memory that was not adopted

/// Counts what was copied, and what it took. Depends on nothing else. Thread-safe.
class Recorder {
 public:
  /// Copies of one direction and kind of memory. `timed` are those which the host waited for, so that
  /// their time is known.
  struct Sum {
    std::uint64_t count = 0, bytes = 0, timed_bytes = 0, nanoseconds = 0;

    /// In GB/s; 0 if none was timed.
    double rate() const noexcept {
      return nanoseconds == 0 ? 0 : double(timed_bytes) / double(nanoseconds);
    }
  };

  /// \param nanoseconds 0: not known
  void copied(Direction direction, HostSide side, std::size_t bytes,
              std::uint64_t nanoseconds) noexcept {
    auto& sum = m_sums[number(direction, side)];
    sum[0].fetch_add(1, std::memory_order_relaxed);
    sum[1].fetch_add(bytes, std::memory_order_relaxed);
    if (nanoseconds == 0) return;
    sum[2].fetch_add(bytes, std::memory_order_relaxed);
    sum[3].fetch_add(nanoseconds, std::memory_order_relaxed);
  }

  Sum sum(Direction direction, HostSide side) const noexcept {
    auto const& sum = m_sums[number(direction, side)];
    return {sum[0], sum[1], sum[2], sum[3]};
  }

  /// Seconds that the timed copies of page-locked memory would have taken longer at the rates of the
  /// pageable ones; 0 without such.
  double seconds_saved() const noexcept;

  /// Copies of both directions.
  std::uint64_t count(HostSide side) const noexcept {
    return sum(Direction::to_host, side).count + sum(Direction::to_device, side).count;
  }

  /// A table of all copies: a line for each direction and kind.
  std::string table() const;

 private:
  static std::size_t number(Direction direction, HostSide side) noexcept {
    return 3 * static_cast<std::size_t>(direction) + static_cast<std::size_t>(side);
  }

  std::array<std::array<std::atomic<std::uint64_t>, 4>, 6> m_sums{};
};

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
