// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// How the two sides of a copy of a matrix lie.
enum class CopyLayout {
  contiguous,
  strided,     ///< the host's rows have a pitch of twice their length, the device's are dense
  strided_3d,  ///< the same of planes, of which the host has every other rows_of_plane rows
  transposed,  ///< from columns one behind the other to rows one behind the other
  scattered,   ///< rows with a pitch of twice their length at the host, in another order: a batch
  regular,     ///< the same in their order: a batch
  neighbours   ///< rows one behind the other, each copied by itself: a batch
};

/// Of a strided_3d copy; its number of rows is a multiple.
inline constexpr std::size_t rows_of_plane = 64;

inline constexpr bool is_batch(CopyLayout layout) {
  return layout == CopyLayout::scattered || layout == CopyLayout::regular ||
         layout == CopyLayout::neighbours;
}

/// What a batch is held against.
enum class BatchBaseline {
  single,  ///< copies one by one
  best     ///< the best of these, of one call for all, and of what the pieces allow
};

enum class CopyDirection { to_device, to_host };

struct CopyShape {
  CopyLayout layout;
  std::size_t rows, columns;  ///< of doubles; the pieces of a batch are rows, a power of two
  BatchBaseline baseline = BatchBaseline::best;
  bool prepared = false;  ///< a batch that is made again and again: its lists are made before
  bool slices   = false;  ///< a batch that Kokkos is given as numbers, and not as Views
  bool are_new  = false;  ///< slices that are those of no call before, so that no list is known

  constexpr std::size_t elements() const { return rows * columns; }
  constexpr std::size_t host_span() const {
    bool const has_gaps = layout == CopyLayout::strided || layout == CopyLayout::scattered ||
                          layout == CopyLayout::regular;
    return elements() * (layout == CopyLayout::strided_3d ? 4 : has_gaps ? 2 : 1);
  }
};

/// The place of a row of scattered ones: no steps in a row are equal (a Gray code).
constexpr std::size_t scattered_row(std::size_t row) { return row ^ (row >> 1); }

/// Where a row of a batch lies at the host, in rows.
constexpr std::size_t row_on_host(CopyLayout layout, std::size_t row) {
  return layout == CopyLayout::scattered ? 2 * scattered_row(row)
         : layout == CopyLayout::regular ? 2 * row
                                         : row;
}

/// The copy as a plain program does it.
class CopyBaseline : public Baseline {
 public:
  /// Before copies of this kind are enqueued, as often as wanted.
  virtual void prepare(double* /*destination*/, double const* /*source*/) {}
  virtual void enqueue(double* destination, double const* source) = 0;
};

std::unique_ptr<CopyBaseline> make_copy_baseline(CopyShape const& shape, CopyDirection direction,
                                                 Stream stream);

/// That of a batch; made by make_copy_baseline.
std::unique_ptr<CopyBaseline> make_batch_baseline(CopyShape const& shape, CopyDirection direction,
                                                  Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
