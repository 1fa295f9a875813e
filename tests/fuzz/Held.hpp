// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A View beside the bytes that it must have.

#ifndef KOKKOS_HOST_SPACES_TESTS_FUZZ_HELD_HPP
#define KOKKOS_HOST_SPACES_TESTS_FUZZ_HELD_HPP

#include "Fuzz.hpp"
#include "Input.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

namespace Fuzz {

using Bytes = std::vector<Byte>;
template <class Space>
using Array = Kokkos::View<Byte*, Kokkos::LayoutRight, Space>;
using Any   = std::variant<Array<KokkosHostSpaces::PinnedSpace>,
                         Array<KokkosHostSpaces::WriteCombinedSpace>, Array<Kokkos::HostSpace>>;

inline Byte* data_of(Any const& view) {
  return std::visit([](auto const& v) { return v.data(); }, view);
}

struct Held {
  Any view;
  Bytes expected;

  std::size_t size() const { return expected.size(); }
  void check() const {
    expect(std::visit([](auto const& v) { return v.extent(0); }, view) == size(),
           "a View has its extent");
    expect(std::equal(expected.begin(), expected.end(), data_of(view)), "a View has its bytes");
  }
};

}  // namespace Fuzz

#endif
