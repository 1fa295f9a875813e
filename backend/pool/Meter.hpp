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

/// Bytes taken from and given back to several heaps so far. `taken` is read first, from all heaps: taken -
/// given back <= bytes in use when the last `taken` was read. So a block that is deallocated in one heap and
/// then allocated in another is not counted twice.
struct Traffic {
  std::size_t taken                     = 0;
  std::size_t given_back                = 0;
  bool operator==(Traffic const&) const = default;
  std::size_t in_use() const noexcept { return taken > given_back ? taken - given_back : 0; }
};

/// The most bytes that were in use at once, summed over heaps. It is looked at where a sum that heaps add
/// to, and which is never too small by more than 64 KiB a heap, exceeds it.
class Meter {
 public:
  /// Adds a difference, which may be negative: sums wrap back.
  void change(std::size_t difference) noexcept;

  std::size_t high_water() const noexcept { return m_high_water.load(std::memory_order_relaxed); }
  Traffic traffic() const noexcept;

 private:
  friend class HeapMeter;

  template <class F>
  void for_each_heap(F f) const noexcept;

  std::atomic<std::size_t> m_told{0};
  std::atomic<std::size_t> m_high_water{0};
  std::atomic<HeapMeter*> m_heaps{nullptr};
};

/// Bytes in use of one heap. Adds to the shared meters when they grow beyond what was added so far;
/// shrinking is added later, because all threads contend for the cache lines of these meters:
/// `soon`, once 64 KiB have come together, or `when_asked`, before a new high is recorded.
class HeapMeter {
 public:
  enum class Tells { soon, when_asked };

  HeapMeter(Meter& pool, Meter& total, Tells less) : m_pool(pool), m_total(total), m_less(less) {
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
    next = meter.m_heaps.load();
    while (!meter.m_heaps.compare_exchange_weak(next, this)) {
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

template <class F>
void Meter::for_each_heap(F f) const noexcept {
  for (HeapMeter* heap = m_heaps.load(std::memory_order_acquire); heap != nullptr;
       heap            = this == &heap->m_pool ? heap->m_next_in_pool : heap->m_next_in_total)
    f(*heap);
}

inline Traffic Meter::traffic() const noexcept {
  Traffic sum;
  for_each_heap([&](HeapMeter const& heap) { sum.taken += heap.account().taken(); });
  for_each_heap([&](HeapMeter const& heap) { sum.given_back += heap.account().given_back(); });
  return sum;
}

inline void Meter::change(std::size_t difference) noexcept {
  std::size_t const told = m_told.fetch_add(difference, std::memory_order_relaxed) + difference;
  if (static_cast<std::ptrdiff_t>(told) <= 0 || told <= high_water()) return;
  for_each_heap([](HeapMeter& heap) {
    if (heap.m_less == HeapMeter::Tells::when_asked) heap.tell();
  });
  std::size_t const now = traffic().in_use();
  std::size_t high      = high_water();
  while (now > high && !m_high_water.compare_exchange_weak(high, now, std::memory_order_relaxed)) {
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
