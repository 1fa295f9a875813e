// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/SliceSweep.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

static_assert(std::has_unique_object_representations_v<Slice>, "slices are compared as bytes");

namespace {

template <class Pieces>
bool add_all(ArraySlices const& arrays, Pieces& pieces) {
  for (std::size_t i = 0; i < arrays.slices.size(); ++i) {
    if (!arrays.has(arrays.slices[i])) return false;
    CopyPiece const next = arrays.piece(i);
    if (!pieces.add_or_merge(next.dst, next.src, next.bytes)) return false;
  }
  return true;
}

}  // namespace

bool ArraySlices::sweep(PieceSweep& pieces) const {
  PieceSweep local  = pieces;  // so that it stays in registers
  bool const is_all = add_all(*this, local);
  pieces            = local;
  return is_all;
}

bool ArraySlices::sweep(FewCopies& copies) const { return add_all(*this, copies); }

// As the first two walk upwards, by less than 2 GiB, all lie in the arrays if the last one does. Each
// is compared with what it should be, and not with the one before, which is read then: 4096 in 2.4 us,
// and 2.9 so. Some at a time without a branch, as compilers make vectors of.
bool ArraySlices::sweep(PieceRows& rows) const {
  std::size_t const all = slices.size();
  if (all < 3) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!has(slices[i])) return false;
    CopyPiece const next = piece(i);
    if (!rows.add(next.dst, next.src, next.bytes)) return false;
  }
  Slice next           = slices[1];
  std::size_t const to = next.dst - slices[0].dst, from = next.src - slices[0].src;
  for (std::size_t begin = 2; begin < all; begin += 64) {
    std::size_t const end = std::min(begin + 64, all);
    std::size_t differ    = 0;
    for (std::size_t i = begin; i < end; ++i) {
      next.dst += to;
      next.src += from;
      differ |=
          (slices[i].dst ^ next.dst) | (slices[i].src ^ next.src) | (slices[i].count ^ next.count);
    }
    if (differ != 0) return false;
  }
  rows.add_more(all - 2);
  return has(slices.back());
}

KnownSlices::KnownSlices(ArraySlices const& of)
    : m_slices(of.slices.begin(), of.slices.end()),
      m_element(of.element),
      m_dst_extent(of.dst.extent),
      m_src_extent(of.src.extent) {}

bool KnownSlices::are(ArraySlices const& others) const {
  return m_slices.size() == others.slices.size() && m_element == others.element &&
         m_dst_extent <= others.dst.extent && m_src_extent <= others.src.extent &&
         std::memcmp(m_slices.data(), others.slices.data(), others.slices.size_bytes()) == 0;
}

}  // namespace KokkosHostSpaces::Impl
