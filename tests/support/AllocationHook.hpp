// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Replaces the global operator new of the executable, so that a test can do something, such as
// fail, in the middle of what it tests.

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_ALLOCATION_HOOK_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_ALLOCATION_HOOK_HPP

#include <cstddef>
#include <functional>

/// While it lives, calls `at_nth` before the n-th allocation (from 1) of at least so many bytes
/// that this thread makes by operator new. Sizes tell those of what is tested from those of fake
/// runtimes. If `at_nth` throws, so does operator new; it may allocate itself.
class AllocationHook {
 public:
  AllocationHook(std::size_t n, std::size_t at_least, std::function<void()> at_nth);
  ~AllocationHook();
  AllocationHook(AllocationHook const&)            = delete;
  AllocationHook& operator=(AllocationHook const&) = delete;

  /// Did the n-th allocation happen?
  bool was_called() const { return m_remaining == 0; }

  void count(std::size_t bytes);  ///< by operator new

 private:
  std::size_t m_remaining, m_at_least;
  std::function<void()> m_at_nth;
};

#endif
