// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_SLABS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_SLABS_HPP

#include "Arena.hpp"
#include "Block.hpp"

#include <array>
#include <cstddef>
#include <list>
#include <memory>

namespace KokkosHostSpaces::Impl {

/// A block of the arena cut into slices of one size.
struct Slab {
  Block* span;
  std::size_t slice_bytes;
  std::size_t count;
  std::size_t idle;  ///< slices that nobody uses, ready or retired
  std::unique_ptr<Block[]> slices;

  /// The slice that holds `pointer`; nullptr in the rest that makes no slice.
  Block* slice_at(void const* pointer) const noexcept;
};

/// Small blocks, by classes of sizes. Slices of a class wait in the order in which they were given
/// back: the longest retired is used first, so that the device has to be asked only once for a
/// whole round of slices. Not thread-safe.
class Slabs {
 public:
  static constexpr std::size_t alignment = 256;
  static constexpr std::size_t largest   = std::size_t(32) << 10;  ///< beyond it pages waste little
  static constexpr std::size_t smallest_span = std::size_t(64) << 10;

  /// Bytes of the slices that serve `bytes`: multiples of 256, 16 sizes for each doubling.
  static std::size_t slice_bytes(std::size_t bytes) noexcept;

  /// Bytes to be cut into slices that serve `bytes`.
  static std::size_t span_bytes(std::size_t bytes) noexcept;

  /// A slice whose epoch is over; nullptr if there is none.
  Block* take(std::size_t bytes, Epoch completed) noexcept;

  /// The slice that is ready next; nullptr if none is idle.
  Block* next(std::size_t bytes) const noexcept { return m_idle[class_of(bytes)].front(); }

  /// Takes a slice back, stamped with its epoch.
  void put(Block& slice) noexcept;

  /// Cuts a block of the arena into slices that serve `bytes`, all ready. \throw std::bad_alloc
  void cut(Block& span, std::size_t bytes);

  /// Calls `f` with each slice that nobody uses.
  template <class F>
  void for_each_idle(F f) const {
    for (BlockList const& idle : m_idle) {
      for (Block const* slice = idle.front(); slice != nullptr; slice = slice->next) f(*slice);
    }
  }

  /// Makes slabs whole again that nobody uses, and hands their blocks to `take_back`.
  template <class TakeBack>
  void dissolve(Epoch completed, TakeBack take_back) noexcept;

 private:
  static constexpr std::size_t class_count = 64;
  static std::size_t class_of(std::size_t bytes) noexcept;
  bool dissolvable(Slab const& slab, Epoch completed) const noexcept;

  std::array<BlockList, class_count> m_idle{};
  std::list<Slab> m_slabs;
};

template <class TakeBack>
void Slabs::dissolve(Epoch completed, TakeBack take_back) noexcept {
  for (auto slab = m_slabs.begin(); slab != m_slabs.end();) {
    if (!dissolvable(*slab, completed)) {
      ++slab;
      continue;
    }
    BlockList& idle = m_idle[class_of(slab->slice_bytes)];
    for (std::size_t i = 0; i < slab->count; ++i) idle.remove(slab->slices[i]);
    Block& span = *slab->span;
    span.slab   = nullptr;
    slab        = m_slabs.erase(slab);
    take_back(span);
  }
}

}  // namespace KokkosHostSpaces::Impl

#endif
