// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "PlainBuffer.hpp"

#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {

PlainBuffer make_plain_buffer(PlainKind, std::size_t bytes) {
  void* const pointer = std::malloc(bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  return {pointer, std::free};
}

}  // namespace KokkosHostSpaces::Perf
