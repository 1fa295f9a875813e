// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_ADDRESSES_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_ADDRESSES_HPP

#include <cstddef>

#include <catch2/catch_test_macros.hpp>

#include <sys/mman.h>

/// A mapping of `bytes`, which needs memory only where it is touched. Skips the test if the system refuses it, as below a
/// small limit of addresses (RLIMIT_AS).
class Addresses {
 public:
  explicit Addresses(std::size_t bytes)
      : m_bytes(bytes),
        m_begin(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (m_begin == MAP_FAILED) SKIP("the system refuses " << (bytes >> 30) << " GiB of addresses");
  }
  ~Addresses() { munmap(m_begin, m_bytes); }
  Addresses(Addresses const&)            = delete;
  Addresses& operator=(Addresses const&) = delete;
  char* begin() const { return static_cast<char*>(m_begin); }

 private:
  std::size_t m_bytes;
  void* m_begin;
};

/// Skips the test if the system refuses a mapping of `bytes`.
inline void need_addresses(std::size_t bytes) { Addresses const unused(bytes); }

#endif
