// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A copy of short rows in planes, by a kernel that reaches both sides.

#ifndef KOKKOS_HOST_SPACES_IMPL_ROW_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_ROW_COPY_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/batch/PieceCopy.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

/// Each thread copies a word of 16 bytes, and those that come most_threads behind. Of a plan that
/// suits_row_kernel.
class RowCopy {
 public:
  static constexpr std::uint32_t most_threads = 1 << 18;

  RowCopy(void* dst, void const* src, CopyPlan const& plan)
      : m_dst(static_cast<LongWord*>(dst)),
        m_src(static_cast<LongWord const*>(src)),
        m_row(std::uint32_t(plan.run_bytes / sizeof(LongWord))),
        m_plane(std::uint32_t(plan.extent[0])),
        m_words(std::uint32_t(plan.bytes() / sizeof(LongWord))) {
    for (int loop = 0; loop < 2; ++loop) {
      m_dst_stride[loop] = plan.dst_stride[std::size_t(loop)] / sizeof(LongWord);
      m_src_stride[loop] = plan.src_stride[std::size_t(loop)] / sizeof(LongWord);
    }
  }
  std::uint32_t threads() const { return std::min(m_words, most_threads); }

  KOKKOS_FUNCTION void operator()(std::uint32_t thread) const {
    for (std::uint32_t i = thread;;) {
      std::uint32_t const all = i / m_row, row = all % m_plane, plane = all / m_plane;
      std::size_t const word = i % m_row;
      m_dst[plane * m_dst_stride[1] + row * m_dst_stride[0] + word] =
          m_src[plane * m_src_stride[1] + row * m_src_stride[0] + word];
      if (m_words - i <= most_threads) return;
      i += most_threads;
    }
  }

 private:
  LongWord* m_dst;
  LongWord const* m_src;
  std::uint32_t m_row, m_plane, m_words;             // words, rows, words
  std::size_t m_dst_stride[2]{}, m_src_stride[2]{};  // words, from row to row and plane to plane
};

template <class ExecutionSpace>
void run_row_copy(ExecutionSpace const& instance, RowCopy const& copy) {
  Kokkos::parallel_for("KokkosHostSpaces::deep_copy: rows",
                       PieceCopyPolicy<ExecutionSpace>(instance, 0, copy.threads()), copy);
}

}  // namespace KokkosHostSpaces::Impl

#endif
