// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_LIMIT_MODEL_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_LIMIT_MODEL_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Says for each request under a limit whether the pool must serve it, from the sizes alone. The model
/// knows two promises, where `spare` is 4 MiB for each heap that can be in use:
/// * at 2.5 times the largest sum of blocks so far, and `spare`, nothing is refused;
/// * what fits is served while the blocks in use are exact: none was cut from a larger one, since each was
///   at least as large as all blocks that were deallocated before it. Then the sum of the blocks, and
///   `spare` if some have less than 4 MiB, may reach the limit.
class LimitModel {
 public:
  /// \param kinds of memory that are used; each has a heap for small and one for large requests
  explicit LimitModel(std::size_t kinds) : m_spare(kinds * 2 * MiB4) {}

  void set_limit(std::size_t bytes) {
    // Without a limit, segments may be longer than their blocks.
    if (m_limit == 0) m_largest_hole = SIZE_MAX;
    m_exact = m_exact && (m_limit > 0 || m_in_use == 0);
    m_limit = bytes;
  }

  bool must_serve(std::size_t bytes) const {
    if (m_limit == 0) return true;
    std::size_t const sum   = m_in_use + rounded(bytes);
    std::size_t const spare = m_has_small || bytes < MiB4 ? m_spare : 0;
    if (m_exact && bytes >= m_largest_hole && sum + spare <= m_limit) return true;
    return std::max(m_peak, sum) / 2 * 5 + m_spare <= m_limit;
  }

  void allocated(std::size_t bytes) {
    m_exact = m_exact && bytes >= m_largest_hole;
    m_has_small |= bytes < MiB4;
    m_in_use += rounded(bytes);
    m_peak = std::max(m_peak, m_in_use);
  }

  void deallocated(std::size_t bytes) {
    m_in_use -= rounded(bytes);
    m_largest_hole = std::max(m_largest_hole, bytes);
    m_exact        = m_exact && !m_has_small;  // others may be in its segment
    if (m_in_use == 0) {                       // all can be given back
      m_exact     = true;
      m_has_small = false;
      m_peak      = 0;
    }
  }

  /// Memory was used for a time in a way that the model does not follow.
  void used_otherwise() {
    m_largest_hole = SIZE_MAX;
    m_exact        = false;
    m_peak         = SIZE_MAX / 8;
  }

  /// All segments that nobody uses were given back.
  void trimmed() {
    if (m_in_use == 0 || (m_exact && !m_has_small)) m_largest_hole = 0;
  }

  /// Bytes that may have to be locked for a request: up to 32 KiB it may be the first of a slab.
  static std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t page = 4096, largest_slot = std::size_t(32) << 10;
    std::size_t const pages = (bytes + page - 1) / page * page;
    return bytes == 0 ? 0 : bytes <= largest_slot ? 8 * largest_slot : pages;
  }

 private:
  static constexpr std::size_t MiB4 = std::size_t(4) << 20;

  std::size_t const m_spare;
  std::size_t m_limit = 0, m_in_use = 0, m_peak = 0, m_largest_hole = 0;
  bool m_exact     = true;
  bool m_has_small = false;
};

#endif
