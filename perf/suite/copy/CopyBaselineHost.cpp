// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CopyBaseline.hpp"

#include "../../plain/LoopsHost.hpp"

#include <cstring>

namespace KokkosHostSpaces::Perf {
namespace {

void copy(CopyShape const& shape, bool to_host, double* destination, double const* source) {
  std::size_t const rows = shape.rows, columns = shape.columns;
  if (is_contiguous(shape.layout)) {
    std::memcpy(destination, source, shape.elements() * sizeof(double));
  } else if (shape.layout == CopyLayout::transposed) {
    for_each_index(rows, [=](std::size_t r) {
      for (std::size_t c = 0; c < columns; ++c) destination[r * columns + c] = source[r + c * rows];
    });
  } else {
    auto const copy_row = [=](std::size_t r, std::size_t place) {
      std::size_t const host = place * columns, dense = r * columns;
      std::memcpy(destination + (to_host ? host : dense), source + (to_host ? dense : host),
                  columns * sizeof(double));
    };
    bool const planes = shape.layout == CopyLayout::strided_3d;
    if (is_batch(shape.layout))
      for (std::size_t r = 0; r < rows; ++r) copy_row(r, row_on_host(shape.layout, r));
    else
      for_each_index(rows, [=](std::size_t r) {
        copy_row(r, 2 * (planes ? r + r / rows_of_plane * rows_of_plane : r));
      });
  }
}

}  // namespace

std::unique_ptr<CopyBaseline> make_copy_baseline(CopyShape const& shape, CopyDirection direction,
                                                 Stream) {
  bool const to_host = direction == CopyDirection::to_host;
  return std::make_unique<CopyByVariants>(
      CopyByVariants::Variants{{is_contiguous(shape.layout) ? "memcpy" : "a loop",
                                [=](double* destination, double const* source) {
                                  copy(shape, to_host, destination, source);
                                }}});
}

}  // namespace KokkosHostSpaces::Perf
