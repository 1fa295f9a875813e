// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How many threads work on a vector, in which blocks. Arithmetic alone, and the same on every
// device: a sum is repeatable because its shape follows from the number of its items.

#ifndef KOKKOS_HOST_SPACES_IMPL_VECTOR_SHAPE_HPP
#define KOKKOS_HOST_SPACES_IMPL_VECTOR_SHAPE_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

inline constexpr unsigned warp_size = 32, most_threads_of_block = 1024;

/// One element or pack a thread: fastest or equal at all sizes on device memory.
inline constexpr unsigned threads_of_map = 256;

struct MapShape {
  unsigned threads;
  bool packs;  ///< of 16 bytes, where they are aligned
};

/// For element-wise kernels. Measured on an H200 with 1 to 3 inputs: packs are best on device
/// memory, but for four large arrays of 8 bytes an element (by a percent). Much memory of the host is
/// best read by large blocks without packs (74 GB/s against 65 at 2^20), and below by packs, at 2^18
/// in blocks of 256 (1 to 4 % less time than in larger ones), unless it is so little that many small
/// blocks ask for it sooner.
/// \param bytes of one element of all arrays
constexpr MapShape shape_of_map(std::uint64_t elements, std::size_t bytes, bool on_host) {
  constexpr std::uint64_t few = 1 << 12, some = 1 << 17, many = 1 << 19, most = 1 << 23;
  if (on_host) {
    if (elements < few) return {128, false};
    if (elements < some) return {512, true};
    return elements < many ? MapShape{256, true} : MapShape{1024, false};
  }
  return {threads_of_map, bytes < 32 || elements < most};
}

/// Threads of a block: those that were asked for, or `otherwise`, as far as all registers that a
/// thread may have suffice for them.
template <class Bounds, class Policy>
unsigned threads_of_block(Policy const& policy, unsigned otherwise) {
  constexpr unsigned most = Bounds::maxTperB > 0 ? std::bit_floor(Bounds::maxTperB) : 256;
  static_assert(most >= warp_size, "the LaunchBounds leave a block less than a warp");
  return std::min(policy.block_size() > 0 ? policy.block_size() : otherwise, most);
}

struct SumShape {
  unsigned blocks, threads;
};

/// For reductions. Measured on an H200 with the dot products of doubles and floats, by stream and in
/// graphs, on data that is not in the cache: one block alone as long as a thread has two packs, then
/// one pack a thread, at last all threads of the device. In host memory they keep pace with the best
/// plain kernels, too.
/// \param most_threads of a block, by launch bounds; a power of two
constexpr SumShape shape_of_sum(std::uint64_t items, unsigned most_threads) {
  struct Row {
    std::uint64_t items;
    SumShape most;
  };
  constexpr Row rows[] = {
      {1 << 14, {32, 512}}, {1 << 16, {64, 1024}}, {1 << 19, {264, 512}}, {~0ULL, {264, 1024}}};
  most_threads = std::min(most_threads, most_threads_of_block);
  if (items <= 2 * most_threads)
    return {1, std::min(std::max(unsigned(std::bit_ceil(items)), warp_size), most_threads)};
  Row const* row = rows;
  while (items > row->items) ++row;
  SumShape shape = row->most;
  for (; shape.threads > most_threads; shape.threads /= 2) shape.blocks *= 2;
  shape.blocks = unsigned(std::min<std::uint64_t>(shape.blocks, (items - 1) / shape.threads + 1));
  return shape;
}

}  // namespace KokkosHostSpaces::Impl

#endif
