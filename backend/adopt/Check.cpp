// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The race guard over adopted memory, which takes the place of the pool's for it.

#include "../guard/Guard.hpp"
#include "../pool/Pool.hpp"
#include "Adoption.hpp"

#include <string>

namespace KokkosHostSpaces::Impl::Backend {

std::optional<Pool::Extent> Pool::extent_of(void const* pointer) {
  auto const block = Adopt::Adoption::instance().extent_of(pointer);
  if (block.begin == nullptr) return std::nullopt;
  return Extent{block.begin, block.asked, block.bytes, true, -1, "HostSpace"};
}

namespace Adopt {

namespace {

Guard::Side side(void const* memory, std::size_t bytes) {
  auto const block = Adoption::instance().extent_of(memory);
  return {memory, bytes,
          block.begin != nullptr ? "a View of " + std::to_string(block.asked) + " bytes"
                                 : "memory of a device"};
}

}  // namespace

void check_copy(void const* dst, void const* src, std::size_t bytes, void* stream) noexcept {
  try {
    Guard::watch(side(dst, bytes), side(src, bytes), stream);
  } catch (std::exception const&) {
    // It is not watched.
  }
}

}  // namespace Adopt

}  // namespace KokkosHostSpaces::Impl::Backend
