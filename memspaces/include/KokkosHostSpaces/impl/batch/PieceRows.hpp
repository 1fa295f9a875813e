// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Pieces that are all rows of one 2-D copy, in one pass.

#ifndef KOKKOS_HOST_SPACES_IMPL_PIECE_ROWS_HPP
#define KOKKOS_HOST_SPACES_IMPL_PIECE_ROWS_HPP

#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

/// Are all of equal length, and each as far behind the one before, on both sides without overlaps, as
/// a 2-D copy takes them?
class PieceRows {
 public:
  bool add(char* dst, char const* src, std::size_t bytes) {
    if (m_count < 2 || dst != m_next_dst || src != m_next_src || bytes != m_bytes)
      if (!begin(dst, src, bytes)) return false;
    m_next_dst = dst + m_dst_step;
    m_next_src = src + m_src_step;
    ++m_count;
    return true;
  }
  /// So many more are known to be like the first two.
  void add_more(std::size_t count) {
    m_next_dst += count * m_dst_step;
    m_next_src += count * m_src_step;
    m_count += count;
  }

  CopyRows rows() const {
    return {{m_dst, m_src, m_bytes, 0, false}, m_count, m_dst_step, m_src_step};
  }
  /// Does none write what one reads? Rows of a side between those of the other are not told apart.
  bool sides_are_apart() const {
    std::size_t const before = m_count - 1;
    return m_dst + before * m_dst_step + m_bytes <= m_src ||
           m_src + before * m_src_step + m_bytes <= m_dst;
  }

 private:
  // The first two tell what the others are like.
  bool begin(char* dst, char const* src, std::size_t bytes) {
    if (bytes == 0 || dst == nullptr || src == nullptr || m_count > 1) return false;
    if (m_count == 0) {
      m_dst   = dst;
      m_src   = src;
      m_bytes = bytes;
      return true;
    }
    std::int64_t const to = dst - m_dst, from = src - m_src, length = std::int64_t(m_bytes);
    if (bytes != m_bytes || to < length || from < length || (to == length && from == length) ||
        std::max(to, from) > CopyRows::longest_step)
      return false;
    m_dst_step = std::size_t(to);
    m_src_step = std::size_t(from);
    return true;
  }

  char* m_dst            = nullptr;
  char const* m_src      = nullptr;
  char* m_next_dst       = nullptr;
  char const* m_next_src = nullptr;
  std::size_t m_bytes = 0, m_dst_step = 0, m_src_step = 0, m_count = 0;
};

}  // namespace KokkosHostSpaces::Impl

#endif
