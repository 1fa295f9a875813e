// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_FAKE_CUPTI_HPP
#define KOKKOS_HOST_SPACES_TESTS_FAKE_CUPTI_HPP

#include <cstdint>

struct FakeCuptiFaults {
  bool has_subscriber        = false;  ///< somebody else listens already
  std::uint32_t refuses_kind = 0;      ///< of activity
  bool has_no_calls          = false;  ///< as if it came too late for calls
};

extern "C" {
void fake_cupti_fails(FakeCuptiFaults const& faults);
/// Who listens, and to how many kinds of activity.
int fake_cupti_subscribers();
int fake_cupti_kinds();

/// A call of CUDA by this thread, of which so many copies are made, each of these bytes and times
/// in ns.
void fake_cupti_call(int copies, std::uint64_t bytes, std::uint64_t start, std::uint64_t end);
}

#endif
