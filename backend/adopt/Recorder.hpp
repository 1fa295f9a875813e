// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_RECORDER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_RECORDER_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

enum class Direction : std::uint8_t { to_host, to_device };
enum class HostSide : std::uint8_t { pageable, locked, others };  ///< `others`: not adopted

/// Counts what was copied, and what it took. Depends on nothing else. Thread-safe.
class Recorder {
 public:
  /// Copies of one direction and kind of memory. `timed` are those which the host waited for, so that
  /// their time is known.
  struct Sum {
    std::atomic<std::uint64_t> count{0}, bytes{0}, timed_bytes{0}, nanoseconds{0};

    /// In GB/s; 0 if none was timed.
    double rate() const noexcept {
      return nanoseconds == 0 ? 0 : double(timed_bytes) / double(nanoseconds);
    }
  };

  /// \param nanoseconds 0: not known
  void copied(Direction direction, HostSide side, std::size_t bytes,
              std::uint64_t nanoseconds) noexcept {
    Sum& sum = m_sums[number(direction, side)];
    sum.count.fetch_add(1, std::memory_order_relaxed);
    sum.bytes.fetch_add(bytes, std::memory_order_relaxed);
    if (nanoseconds == 0) return;
    sum.timed_bytes.fetch_add(bytes, std::memory_order_relaxed);
    sum.nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
  }

  Sum const& sum(Direction direction, HostSide side) const noexcept {
    return m_sums[number(direction, side)];
  }

 private:
  static std::size_t number(Direction direction, HostSide side) noexcept {
    return 3 * static_cast<std::size_t>(direction) + static_cast<std::size_t>(side);
  }

  std::array<Sum, 6> m_sums{};
};

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
