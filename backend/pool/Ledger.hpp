// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_LEDGER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_LEDGER_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace KokkosHostSpaces::Impl::Backend {

/// Counts the bytes that are locked, and enforces the limit. Memory is in transit while it is being
/// locked or given back: it is counted here, and in no heap. Sums saturate. Invariants:
///   locked = bytes of all segments of all heaps + bytes in transit + bytes that could not be given back
///   locked + apart <= limit when `reserve` or `set_apart` returns true
///   0 <= locked, and locked <= limit when `reserve` returns true
class Ledger {
 public:
  explicit Ledger(std::size_t limit) : m_limit(limit) {}

  /// Counts `bytes` as locked and in transit, before they are locked; false if the limit forbids it.
  bool reserve(std::size_t bytes) noexcept {
    if (excess(bytes) > 0) return false;
    m_in_transit.fetch_add(1);  // first: a reader of the new sum must see that it is in transit
    std::size_t const most = this->most();
    std::size_t locked     = m_locked.load();
    do {
      if (bytes > most || locked > most - bytes) {
        m_in_transit.fetch_sub(1);
        return false;
      }
    } while (!m_locked.compare_exchange_weak(locked, locked + bytes));
    return true;
  }

  /// Ends the transit of reserved bytes, which a heap has now.
  void arrived() noexcept {
    m_changes.fetch_add(1);
    m_in_transit.fetch_sub(1);
  }

  /// Begins the transit of a segment out of a heap. Call it before the heap lets go of the segment, or
  /// a reader finds the bytes neither in the heap nor in transit.
  void leaves() noexcept { m_in_transit.fetch_add(1); }

  /// Ends a transit that changed nothing: no segment left, or it could not be unlocked and stays locked
  /// in no heap.
  void stays() noexcept { m_in_transit.fetch_sub(1); }

  /// Ends the transit of bytes that were given back, or reserved and not locked.
  void release(std::size_t bytes) noexcept {
    if (m_locked.fetch_sub(bytes) < bytes) {
      std::fputs("KokkosHostSpaces: more memory was given back than was locked\n", stderr);
      std::abort();  // else the sum would wrap, and refuse every request
    }
    arrived();
  }

  /// Counts memory toward the limit that is page-locked in no heap; false if the limit forbids it.
  bool set_apart(std::size_t bytes) noexcept {
    if (!reserve(bytes)) return false;
    m_apart.fetch_add(bytes);
    arrived();
    return true;
  }

  /// Ends set_apart.
  void end_apart(std::size_t bytes) noexcept {
    leaves();
    m_apart.fetch_sub(bytes);
    release(bytes);
  }

  std::size_t locked() const noexcept {
    std::size_t const apart = m_apart.load();  // first: it is counted in the sum
    std::size_t const sum   = m_locked.load();
    return sum > apart ? sum - apart : 0;
  }
  std::size_t apart() const noexcept { return m_apart.load(); }
  std::size_t limit() const noexcept { return m_limit.load(); }
  void set_limit(std::size_t bytes) noexcept { m_limit.store(bytes); }

  /// Bytes that must be given back before `bytes` more can be locked.
  std::size_t excess(std::size_t bytes) const noexcept {
    std::size_t const most   = this->most();
    std::size_t const locked = m_locked.load();
    if (bytes <= most && locked <= most - bytes) return 0;
    std::size_t const over = locked > most ? locked - most : 0;
    std::size_t const free = locked > most ? 0 : most - locked;
    return over > unlimited - bytes ? unlimited : over + bytes - free;
  }

  bool in_transit() const noexcept { return m_in_transit.load() > 0; }

  /// Changes whenever memory has arrived or has been given back.
  std::uint64_t changes() const noexcept { return m_changes.load(); }

 private:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  std::size_t most() const noexcept {
    std::size_t const most = limit();
    return most == 0 ? unlimited : most;
  }

  std::atomic<std::size_t> m_locked{0};  // and m_apart
  std::atomic<std::size_t> m_apart{0};
  std::atomic<std::size_t> m_limit;
  std::atomic<std::size_t> m_in_transit{0};
  std::atomic<std::uint64_t> m_changes{0};
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
