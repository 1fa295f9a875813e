// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_SIGNAL_LINE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_SIGNAL_LINE_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend {

/// A line for stderr that may be put together in a signal handler. What is too long is cut.
class SignalLine {
 public:
  void add(char const* text) {
    while (*text != '\0' && m_size + 1 < m_text.size()) m_text[m_size++] = *text++;
  }
  void add(std::uintptr_t number, std::uintptr_t base) {
    std::array<char, 24> digits{};
    std::size_t i = digits.size() - 1;
    do {
      digits[--i] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number > 0);
    add(&digits[i]);
  }
  void write_to_stderr() const {
    // What cannot be written is lost: there is nobody to tell.
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, m_text.data(), m_size);
  }

 private:
  std::array<char, 1200> m_text{};
  std::size_t m_size = 0;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
