// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_MEMORY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_MEMORY_HPP

#include "../../plain/PlainBuffer.hpp"

#include <Kokkos_Core.hpp>

namespace KokkosHostSpaces::Perf {

/// Three arrays in `Space` and three of a plain program, made once for all sizes and types. Both sides use
/// the same device memory, since its place changes the rate by a percent.
template <class Space>
struct VectorMemory {
  using Bytes = Kokkos::View<char *, Space>;

  VectorMemory(std::size_t bytes_each, PlainKind plain_kind) : bytes(bytes_each) {
    for (int k = 0; k < 3; ++k) {
      views[k] = Bytes(Kokkos::view_alloc(Kokkos::WithoutInitializing, "array"), bytes);
      ours[k]  = views[k].data();
      if (plain_kind == PlainKind::device) {
        plain[k] = ours[k];
      } else {
        owned[k] = make_plain_buffer(plain_kind, bytes);
        plain[k] = owned[k].get();
      }
    }
  }

  std::size_t bytes;
  void *ours[3], *plain[3];

 private:
  static void keep(void *) {}
  Bytes views[3];
  PlainBuffer owned[3] = {{nullptr, keep}, {nullptr, keep}, {nullptr, keep}};
};

}  // namespace KokkosHostSpaces::Perf

#endif
