// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_FUZZ_INPUT_HPP
#define KOKKOS_HOST_SPACES_TESTS_FUZZ_INPUT_HPP

#include <cstddef>
#include <cstdint>

namespace Fuzz {

using Byte = std::uint8_t;

// The input, read from front to back; then it gives zeros.
class Input {
 public:
  Input(Byte const* data, std::size_t size) : m_next(data), m_end(data + size) {}
  bool is_over() const { return m_next == m_end; }
  Byte byte() { return is_over() ? Byte(0) : *m_next++; }
  // A number below `bound`, which is at least 1.
  std::size_t below(std::size_t bound) { return (std::size_t(byte()) * 256 + byte()) % bound; }
  // Mostly small, and up to 2 MiB, so that all paths of the pool are taken.
  std::size_t size() {
    Byte const scale = byte();
    return below(1 << 16) * (scale == 100 ? 32 : 1) / (scale % 16 == 1 ? 1 : 128);
  }

 private:
  Byte const *m_next, *m_end;
};

}  // namespace Fuzz

#endif
