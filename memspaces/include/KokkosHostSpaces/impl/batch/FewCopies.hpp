// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// So few copies that one call of the driver makes them, and that each is compared with each other.
// Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_FEW_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_FEW_COPIES_HPP

#include <algorithm>
#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// As that call takes them.
class FewCopies {
 public:
  static constexpr std::size_t most = 7;  ///< more may go by a kernel

  /// The next one, of `most`. False: it is not plain, since it is empty, or has no memory.
  bool add(char* dst, char const* src, std::size_t bytes) {
    if (bytes == 0 || dst == nullptr || src == nullptr) return false;
    m_dsts[m_count]    = dst;
    m_srcs[m_count]    = src;
    m_bytes[m_count++] = bytes;
    return true;
  }

  /// The same, but an empty one is left out, and one that continues the one before becomes part of it.
  bool add_or_merge(char* dst, char const* src, std::size_t bytes) {
    if (bytes == 0) return true;
    std::size_t const last = m_count - 1;
    if (m_count == 0 || !continues(last, dst, src)) return add(dst, src, bytes);
    m_bytes[last] += bytes;
    return true;
  }

  std::size_t count() const { return m_count; }
  void* const* dsts() const { return m_dsts; }
  void const* const* srcs() const { return m_srcs; }
  std::size_t const* bytes() const { return m_bytes; }

  /// May they go as they are? Not if they depend on each other, or are neighbours, or so many in a
  /// row of equal length and at equal distances that they may be of one 2-D copy.
  bool are_plain(std::size_t regular_pieces) const {
    if (m_count == 0) return false;
    char const *first_dst = dst(0), *dst_end = end_of_dst(0), *first_src = src(0),
               *src_end = src(0) + m_bytes[0];
    std::size_t regular = 0;
    for (std::size_t i = 1; i < m_count; ++i) {
      for (std::size_t k = 0; k < i; ++k)
        if ((dst(i) < end_of_dst(k) && dst(k) < end_of_dst(i)) || continues(k, dst(i), src(i)) ||
            continues(i, dst(k), src(k)))
          return false;
      regular = m_bytes[i] != m_bytes[i - 1]        ? 0
                : regular > 0 && steps_as_before(i) ? regular + 1
                                                    : 2;
      if (regular >= regular_pieces) return false;
      first_dst = std::min(first_dst, dst(i));
      dst_end   = std::max(dst_end, end_of_dst(i));
      first_src = std::min(first_src, src(i));
      src_end   = std::max(src_end, src(i) + m_bytes[i]);
    }
    return dst_end <= first_src || src_end <= first_dst;
  }

 private:
  char const* dst(std::size_t i) const { return static_cast<char const*>(m_dsts[i]); }
  char const* src(std::size_t i) const { return static_cast<char const*>(m_srcs[i]); }
  char const* end_of_dst(std::size_t i) const { return dst(i) + m_bytes[i]; }
  bool continues(std::size_t i, char const* next_dst, char const* next_src) const {
    return next_dst == end_of_dst(i) && next_src == src(i) + m_bytes[i];
  }
  bool steps_as_before(std::size_t i) const {
    return dst(i) - dst(i - 1) == dst(i - 1) - dst(i - 2) &&
           src(i) - src(i - 1) == src(i - 1) - src(i - 2);
  }

  void* m_dsts[most];
  void const* m_srcs[most];
  std::size_t m_bytes[most];
  std::size_t m_count = 0;
};

/// Enqueues plain copies, none of them pageable, by one call. False, and nothing is done, if there is
/// none, or the driver does not take them. Not while `stream` captures.
/// \param to_device from page-locked memory to that of a device?
bool copy_few(FewCopies const& copies, bool to_device, void* stream);

}  // namespace KokkosHostSpaces::Impl

#endif
