// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_METER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_METER_HPP

#include <atomic>
#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// Bytes in use and the most there ever were, summed over heaps.
class Meter {
 public:
  /// Adds a difference, which may be negative: sums wrap back.
  void change(std::size_t difference) noexcept {
    std::size_t const now = m_in_use.fetch_add(difference, std::memory_order_relaxed) + difference;
    std::size_t high      = m_high_water.load(std::memory_order_relaxed);
    bool const is_a_sum   = static_cast<std::ptrdiff_t>(now) > 0;
    while (is_a_sum && high < now &&
           !m_high_water.compare_exchange_weak(high, now, std::memory_order_relaxed)) {
    }
  }
  std::size_t high_water() const noexcept { return m_high_water.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> m_in_use{0};
  std::atomic<std::size_t> m_high_water{0};
};

/// What one heap has in use. The meters that heaps share are told what is more at once, and what is
/// less when it is worth the while: their lines are everybody's.
class HeapMeter {
 public:
  HeapMeter(Meter& pool, Meter& total) : m_pool(pool), m_total(total) {}

  void add(std::size_t bytes) noexcept {
    std::size_t const now = m_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (now > m_told.load(std::memory_order_relaxed)) tell();
  }
  void subtract(std::size_t bytes) noexcept {
    std::size_t const now = m_in_use.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
    if (now + worth_telling < m_told.load(std::memory_order_relaxed)) tell();
  }
  std::size_t in_use() const noexcept { return m_in_use.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t worth_telling = std::size_t(64) << 10;

  void tell() noexcept {
    std::size_t const now    = in_use();
    std::size_t const before = m_told.exchange(now, std::memory_order_relaxed);
    m_pool.change(now - before);
    m_total.change(now - before);
  }

  Meter& m_pool;
  Meter& m_total;
  std::atomic<std::size_t> m_in_use{0};
  std::atomic<std::size_t> m_told{0};
};

}  // namespace KokkosHostSpaces::Impl

#endif
