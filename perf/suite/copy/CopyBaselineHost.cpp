// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CopyBaseline.hpp"

#include "../../plain/LoopsHost.hpp"

#include <cstring>

namespace KokkosHostSpaces::Perf {
namespace {

class HostCopyBaseline final : public CopyBaseline {
 public:
  HostCopyBaseline(CopyShape const& shape, CopyDirection direction)
      : m_shape(shape), m_to_host(direction == CopyDirection::to_host) {}

  std::vector<std::string> variants() const override {
    return {is_contiguous(m_shape.layout) ? "memcpy" : "a loop"};
  }

  void enqueue(double* destination, double const* source) override {
    std::size_t const rows = m_shape.rows, columns = m_shape.columns;
    std::size_t const run = columns * sizeof(double);
    if (is_contiguous(m_shape.layout)) {
      std::memcpy(destination, source, m_shape.elements() * sizeof(double));
    } else if (is_batch(m_shape.layout)) {
      for (std::size_t r = 0; r < rows; ++r) {
        std::size_t const host = row_on_host(m_shape.layout, r) * columns;
        std::memcpy(destination + (m_to_host ? host : r * columns),
                    source + (m_to_host ? r * columns : host), run);
      }
    } else if (m_shape.layout != CopyLayout::transposed) {
      bool const planes = m_shape.layout == CopyLayout::strided_3d, to_host = m_to_host;
      for_each_index(rows, [=](std::size_t r) {
        std::size_t const on_host =
            2 * columns * (planes ? r + r / rows_of_plane * rows_of_plane : r);
        std::memcpy(destination + (to_host ? on_host : r * columns),
                    source + (to_host ? r * columns : on_host), run);
      });
    } else {
      for_each_index(rows, [=](std::size_t r) {
        for (std::size_t c = 0; c < columns; ++c)
          destination[r * columns + c] = source[r + c * rows];
      });
    }
  }

 private:
  CopyShape m_shape;
  bool m_to_host;
};

}  // namespace

std::unique_ptr<CopyBaseline> make_copy_baseline(CopyShape const& shape, CopyDirection direction,
                                                 Stream) {
  return std::make_unique<HostCopyBaseline>(shape, direction);
}

}  // namespace KokkosHostSpaces::Perf
