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
#include <map>
#include <numeric>
#include <string>
#include <type_traits>
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

struct Registered {
  KokkosHostSpaces::Registration registration;
  Byte* begin;
  std::size_t bytes;
};

inline bool is_in_pool(Held const& held) {
  return !std::holds_alternative<Array<Kokkos::HostSpace>>(held.view);
}

// Bytes that differ from their neighbours.
inline void fill_with_pattern(Bytes& bytes, Byte first) {
  static Bytes const pattern = [] {
    Bytes numbers((std::size_t(2) << 20) + 256);
    std::iota(numbers.begin(), numbers.end(), Byte(0));
    return numbers;
  }();
  std::copy_n(pattern.begin() + first, bytes.size(), bytes.begin());
}

// The statistics of each space are those of its Views.
inline void check_spaces(KokkosHostSpaces::pool::Statistics const& now,
                         std::vector<Held> const& all) {
  namespace pool = KokkosHostSpaces::pool;
  std::map<std::string, std::size_t> blocks, bytes;
  for (Held const& held : all)
    std::visit(
        [&](auto const& v) {
          ++blocks[std::decay_t<decltype(v)>::memory_space::name()];
          bytes[std::decay_t<decltype(v)>::memory_space::name()] += v.extent(0);
        },
        held.view);
  for (pool::SpaceUsage const& space : now.spaces) {
    expect(space.blocks == blocks[space.space], "each View is a block");
    std::size_t const headers = space.blocks * 512;
    expect(space.bytes_asked >= bytes[space.space] &&
               space.bytes_asked <= bytes[space.space] + headers,
           "a space has the bytes of its Views");
  }
  for (Held const& held : all)
    if (auto const* const view = std::get_if<Array<KokkosHostSpaces::PinnedSpace>>(&held.view)) {
      auto const block = pool::describe(*view);
      expect(held.size() == 0 ||
                 (block && block->label == "fuzz" && block->state == pool::State::in_use),
             "a View is told by its label");
    }
}

}  // namespace Fuzz

#endif
