// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_METER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_METER_HPP

#include <atomic>
#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

/// Two counters of a heap, which only grow: taken and given back. in use = taken - given back.
/// `take` needs the heap's mutex, and therefore no read-modify-write.
class Account {
 public:
  void take(std::size_t count) noexcept {
    m_taken.store(m_taken.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }
  void give_back(std::size_t count) noexcept {
    m_given_back.fetch_add(count, std::memory_order_release);
  }
  /// Reads given back first: the difference is not negative.
  std::size_t in_use() const noexcept {
    std::size_t const before = given_back();
    return taken() - before;
  }
  std::size_t taken() const noexcept { return m_taken.load(std::memory_order_acquire); }
  std::size_t given_back() const noexcept { return m_given_back.load(std::memory_order_acquire); }

 private:
  std::atomic<std::size_t> m_taken{0};
  std::atomic<std::size_t> m_given_back{0};
};

class HeapMeter;

/// Bytes in use and the most there ever were, summed over heaps.
class Meter {
 public:
  /// Adds a difference, which may be negative: sums wrap back.
  void change(std::size_t difference) noexcept;

  std::size_t high_water() const noexcept { return m_high_water.load(std::memory_order_relaxed); }

 private:
  friend class HeapMeter;
  std::atomic<std::size_t> m_in_use{0};
  std::atomic<std::size_t> m_high_water{0};
  std::atomic<HeapMeter*> m_lagging{nullptr};
};

/// Bytes in use of one heap. Adds to the shared meters when they grow beyond what was added so far;
/// shrinking is added later, because all threads contend for the cache lines of these meters:
/// `soon`, once 64 KiB have come together, or `when_asked`, before a new high is recorded.
class HeapMeter {
 public:
  enum class Tells { soon, when_asked };

  HeapMeter(Meter& pool, Meter& total, Tells less) : m_pool(pool), m_total(total), m_less(less) {
    if (less == Tells::soon) return;
    follow(pool, m_next_in_pool);
    follow(total, m_next_in_total);
  }
  HeapMeter(HeapMeter const&)            = delete;
  HeapMeter& operator=(HeapMeter const&) = delete;

  /// With the heap's mutex held.
  void add(std::size_t bytes) noexcept {
    m_account.take(bytes);
    if (in_use() > m_told.load(std::memory_order_relaxed)) tell();
  }
  void subtract(std::size_t bytes) noexcept {
    m_account.give_back(bytes);
    if (m_less == Tells::soon && in_use() + worth_telling < m_told.load(std::memory_order_relaxed))
      tell();
  }
  std::size_t in_use() const noexcept { return m_account.in_use(); }
  Account const& account() const noexcept { return m_account; }

 private:
  friend class Meter;
  static constexpr std::size_t worth_telling = std::size_t(64) << 10;

  void follow(Meter& meter, HeapMeter*& next) noexcept {
    next = meter.m_lagging.load();
    while (!meter.m_lagging.compare_exchange_weak(next, this)) {
    }
  }

  void tell() noexcept {
    std::size_t const now    = in_use();
    std::size_t const before = m_told.exchange(now, std::memory_order_relaxed);
    if (now == before) return;
    m_pool.change(now - before);
    m_total.change(now - before);
  }

  Meter& m_pool;
  Meter& m_total;
  Tells const m_less;
  HeapMeter* m_next_in_pool  = nullptr;
  HeapMeter* m_next_in_total = nullptr;
  Account m_account;
  std::atomic<std::size_t> m_told{0};
};

inline void Meter::change(std::size_t difference) noexcept {
  std::size_t now          = m_in_use.fetch_add(difference, std::memory_order_relaxed) + difference;
  auto const is_a_new_high = [&] {
    return static_cast<std::ptrdiff_t>(now) > 0 && now > high_water();
  };
  if (!is_a_new_high()) return;
  for (HeapMeter* meter = m_lagging.load(std::memory_order_acquire); meter != nullptr;
       meter            = this == &meter->m_pool ? meter->m_next_in_pool : meter->m_next_in_total)
    meter->tell();
  now              = m_in_use.load(std::memory_order_relaxed);
  std::size_t high = high_water();
  while (is_a_new_high() &&
         !m_high_water.compare_exchange_weak(high, now, std::memory_order_relaxed)) {
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
