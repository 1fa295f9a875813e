// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Layouts of the two ends of a copied matrix.
enum class CopyLayout {
  contiguous,
  by_kernel,   ///< contiguous, by a kernel through the mapped address
  strided,     ///< rows with a pitch of twice their length at the host, dense at the device
  strided_3d,  ///< the same in planes of rows_of_plane rows, with gaps between planes
  transposed,  ///< from LayoutLeft to LayoutRight
  scattered,   ///< a batch of rows with a pitch of twice their length at the host, in another order
  neighbours   ///< a batch of adjacent rows, each a copy by itself
};

/// The rows of a strided_3d copy are a multiple of this.
inline constexpr std::size_t rows_of_plane = 64;

inline constexpr bool is_contiguous(CopyLayout layout) {
  return layout == CopyLayout::contiguous || layout == CopyLayout::by_kernel;
}
inline constexpr bool is_batch(CopyLayout layout) {
  return layout == CopyLayout::scattered || layout == CopyLayout::neighbours;
}

/// Baselines of a batch.
enum class BatchBaseline {
  single,  ///< copies one by one
  best     ///< the best of single copies, one call for all, a kernel, and what the layout allows
};

enum class CopyDirection { to_device, to_host };

struct CopyShape {
  CopyLayout layout;
  std::size_t rows, columns;  ///< doubles; the pieces of a batch are rows, a power of two
  BatchBaseline baseline = BatchBaseline::best;
  bool prepared          = false;  ///< a batch whose list is made once, outside of the timing
  bool slices            = false;  ///< a batch given to Kokkos by offsets, not as Views
  bool are_new           = false;  ///< slices that differ from those of all calls before

  constexpr std::size_t elements() const { return rows * columns; }
  constexpr std::size_t host_span() const {
    bool const has_gaps = layout == CopyLayout::strided || layout == CopyLayout::scattered;
    return elements() * (layout == CopyLayout::strided_3d ? 4 : has_gaps ? 2 : 1);
  }
};

/// Place of a scattered row: a Gray code, so that no two steps in succession are equal.
constexpr std::size_t scattered_row(std::size_t row) { return row ^ (row >> 1); }

/// Place of a row of a batch at the host, in rows.
constexpr std::size_t row_on_host(CopyLayout layout, std::size_t row) {
  return layout == CopyLayout::scattered ? 2 * scattered_row(row) : row;
}

/// A copy by a plain program.
class CopyBaseline : public Baseline {
 public:
  /// Call it once for each destination, before copies to it are enqueued.
  virtual void prepare(double* /*destination*/, double const* /*source*/) {}
  virtual void enqueue(double* destination, double const* source) = 0;
};

/// One whose variants are functions of destination and source.
class CopyByVariants final : public ByVariants<CopyBaseline, void(double*, double const*)> {
 public:
  using ByVariants::ByVariants;
  void enqueue(double* destination, double const* source) override { call(destination, source); }
};

std::unique_ptr<CopyBaseline> make_copy_baseline(CopyShape const& shape, CopyDirection direction,
                                                 Stream stream);

/// make_copy_baseline for a batch.
std::unique_ptr<CopyBaseline> make_batch_baseline(CopyShape const& shape, CopyDirection direction,
                                                  Stream stream);

/// Copies arrays over the links of some devices at once, each to or from its own, some times. Returns seconds.
using LinksAtOnce = std::function<double(int times, bool to_device)>;

/// \param bytes of an array \throw std::exception if there is not enough memory
LinksAtOnce links_at_once(std::vector<int> const& devices, std::size_t bytes);

}  // namespace KokkosHostSpaces::Perf

#endif
