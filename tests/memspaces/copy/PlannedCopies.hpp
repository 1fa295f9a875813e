// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Plans of copies, carried out by the host.

#ifndef KOKKOS_HOST_SPACES_TESTS_PLANNED_COPIES_HPP
#define KOKKOS_HOST_SPACES_TESTS_PLANNED_COPIES_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

namespace PlannedCopies {

using KokkosHostSpaces::Impl::CopyPlan;

/// Of elements of 8 bytes.
inline CopyPlan plan(std::vector<std::size_t> const& extents, std::vector<std::size_t> const& dst,
                     std::vector<std::size_t> const& src) {
  return KokkosHostSpaces::Impl::make_copy_plan(8, int(extents.size()), extents.data(), dst.data(),
                                                src.data());
}

inline void walk(char* dst, char const* src, CopyPlan const& p, int loop) {
  if (loop < 0) {
    std::memcpy(dst, src, p.run_bytes);
    return;
  }
  for (std::size_t i = 0; i < p.extent[std::size_t(loop)]; ++i)
    walk(dst + i * p.dst_stride[std::size_t(loop)], src + i * p.src_stride[std::size_t(loop)], p,
         loop - 1);
}

inline void carry_out(void* dst, void const* src, CopyPlan const& p) {
  walk(static_cast<char*>(dst), static_cast<char const*>(src), p, p.loops - 1);
}

/// In elements, the dimensions of `order` from the fastest on, each with a gap behind it.
inline std::vector<std::size_t> strides(std::vector<std::size_t> const& extents,
                                        std::vector<std::size_t> const& order, std::size_t gap) {
  std::vector<std::size_t> result(extents.size());
  std::size_t next = 1;
  for (std::size_t const r : order) {
    result[r] = next;
    next *= extents[r] + gap;
  }
  return result;
}

}  // namespace PlannedCopies

#endif
