// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_GUARDED_VIEW_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_GUARDED_VIEW_HPP

#include "../../../backend/guard/Guard.hpp"
#include "../pool/PoolTest.hpp"

inline constexpr std::size_t header = 128;

/// A View as Kokkos allocates it: with its header.
class TestView {
 public:
  TestView(std::size_t bytes, std::string label)
      : m_bytes(bytes),
        m_label(std::move(label)),
        m_block(PoolTest::allocate(bytes + header, m_label.c_str())),
        data(m_block + header) {}
  ~TestView() { destroy(); }
  TestView(TestView const&)            = delete;
  TestView& operator=(TestView const&) = delete;

  void destroy() { Pool::deallocate(std::exchange(m_block, nullptr)); }

  Guard::Side side() const { return part(0, m_bytes); }
  Guard::Side part(std::size_t from, std::size_t size) const {
    return {m_block + header + from, size, m_label};
  }

 private:
  std::size_t m_bytes;
  std::string m_label;
  char* m_block;

 public:
  char volatile* const data;
};

inline Guard::Side on_device(std::string const& label) {
  return {reinterpret_cast<void*>(64), 8, label};
}

#endif
