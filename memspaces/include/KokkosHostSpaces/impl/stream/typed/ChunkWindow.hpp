// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Checks of the indices of chunks, which are there if Kokkos checks those of Views.

#ifndef KOKKOS_HOST_SPACES_IMPL_CHUNK_WINDOW_HPP
#define KOKKOS_HOST_SPACES_IMPL_CHUNK_WINDOW_HPP

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace KokkosHostSpaces::Impl {

#ifdef KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK

/// The rows of an array that an iteration may touch: its own, and those in the halo.
class ChunkWindow {
 public:
  static constexpr bool is_checked = true;
  ChunkWindow()                    = default;
  /// All rows, until around() is called.
  ChunkWindow(std::string const& label, std::int64_t rows, std::int64_t halo)
      : m_rows(rows), m_halo(halo), m_end(rows) {
    std::size_t length = label.copy(m_label, sizeof m_label - 1);
    while (length > 0 && length < label.size() && (label[length] & 0xc0) == 0x80) --length;
    m_label[length] = '\0';
  }
  /// The window of an iteration.
  KOKKOS_FUNCTION ChunkWindow around(std::int64_t row) const {
    ChunkWindow result = *this;
    result.m_begin     = row > m_halo ? row - m_halo : 0;
    result.m_end       = m_rows - row > m_halo ? row + m_halo + 1 : m_rows;
    return result;
  }
  /// Aborts unless the element is in the window and in its row.
  template <class... Index>
  KOKKOS_FUNCTION void check(std::int64_t row, bool in_row, Index... index) const {
    if (in_row && row >= m_begin && row < m_end) return;
    Message message;
    message.add("a streamed loop touches \"").add(m_label).add("\"(");
    int n = 0;
    ((message.add(n++ > 0 ? ", " : "").add(index)), ...);
    message.add(") (which is outside of the rows ").add(m_begin).add(" to ").add(m_end - 1);
    message.add(", or of a row): one iteration may touch its own row and those in the khs::halo\n");
    Kokkos::abort(message.text);
  }

 private:
  // Device code has no snprintf.
  struct Message {
    char text[256] = {};
    int length     = 0;
    KOKKOS_FUNCTION Message& add(char const* words) {
      for (; *words != '\0' && length < 255; ++words) text[length++] = *words;
      return *this;
    }
    KOKKOS_FUNCTION Message& add(std::int64_t number) {
      if (number < 0) add("-");
      char digits[20] = {};
      int first       = 19;
      for (; first == 19 || number != 0; number /= 10)
        digits[--first] = static_cast<char>('0' + Kokkos::abs(number % 10));
      return add(digits + first);
    }
  };

  std::int64_t m_rows  = std::numeric_limits<std::int64_t>::max();
  std::int64_t m_halo  = 0;
  std::int64_t m_begin = 0;
  std::int64_t m_end   = m_rows;
  char m_label[32]     = "";
};

#else

class ChunkWindow {
 public:
  static constexpr bool is_checked = false;
  ChunkWindow()                    = default;
  ChunkWindow(std::string const&, std::int64_t, std::int64_t) {}
  KOKKOS_FUNCTION ChunkWindow around(std::int64_t) const { return {}; }
  template <class... Index>
  KOKKOS_FUNCTION void check(std::int64_t, bool, Index...) const {}
};

#endif

}  // namespace KokkosHostSpaces::Impl

#endif
