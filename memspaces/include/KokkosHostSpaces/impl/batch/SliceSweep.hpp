// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Slices of two arrays: how they become a list of pieces, and how they are known again. Knows nothing
// of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_SLICE_SWEEP_HPP
#define KOKKOS_HOST_SPACES_IMPL_SLICE_SWEEP_HPP

#include <KokkosHostSpaces/Slice.hpp>
#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/batch/FewCopies.hpp>
#include <KokkosHostSpaces/impl/batch/PieceRows.hpp>
#include <KokkosHostSpaces/impl/batch/PieceSweep.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// An array of so many elements.
template <class Byte>
struct ArrayOf {
  Byte* begin;
  std::size_t extent;  ///< elements
};

/// Slices, and the two arrays that they are of.
struct ArraySlices {
  ArrayOf<char> dst;
  ArrayOf<char const> src;
  std::size_t element;  ///< bytes
  std::span<Slice const> slices;

  bool have_memory() const { return dst.begin != nullptr && src.begin != nullptr; }
  /// Does a slice lie in both arrays?
  bool has(Slice const& slice) const {
    return is_within(slice.dst, slice.count, dst.extent) &&
           is_within(slice.src, slice.count, src.extent);
  }
  static bool is_within(std::size_t first, std::size_t count, std::size_t extent) {
    return count <= extent && first <= extent - count;
  }
  /// Of a slice that it has.
  CopyPiece piece(std::size_t i) const {
    Slice const& slice = slices[i];
    return {dst.begin + slice.dst * element, src.begin + slice.src * element, slice.count * element,
            std::uint32_t(i), false};
  }
  /// Do they come by their destinations?
  bool ascend() const {
    return std::is_sorted(slices.begin(), slices.end(),
                          [](Slice const& a, Slice const& b) { return a.dst < b.dst; });
  }
  /// Has no slice the same memory on both sides?
  bool are_apart() const {
    return dst.begin + dst.extent * element <= src.begin ||
           src.begin + src.extent * element <= dst.begin;
  }
  /// Adds all of them but empty ones, merged with the one before if they continue it. False: one is
  /// not plain, or not in the arrays.
  bool sweep(PieceSweep& pieces) const;
  bool sweep(FewCopies& copies) const;
  /// False as well if there are less than three.
  bool sweep(PieceRows& rows) const;
};

/// The slices that a list was made of, word for word: 4096 of them are known again in 1.7 us, as many
/// Views by their list in 4.6 (on one machine, in its caches).
class KnownSlices {
 public:
  KnownSlices() = default;
  explicit KnownSlices(ArraySlices const& of);

  /// May these have that list, if of other memory? Then all of them lie in their arrays, which are
  /// as long at least.
  bool are(ArraySlices const& others) const;

 private:
  std::vector<Slice> m_slices;
  std::size_t m_element = 0, m_dst_extent = 0, m_src_extent = 0;
};

}  // namespace KokkosHostSpaces::Impl

#endif
