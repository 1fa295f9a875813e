// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernels of parallel_for and element_wise on a device, and their block sizes. A kernel of two
// microseconds mostly waits for instructions and parameters. Therefore the work of a thread comes
// first, indices have 32 bits, and the parameters of a thread lie in the first 48 bytes, which
// arrive together.

#ifndef KOKKOS_HOST_SPACES_IMPL_MAP_KERNEL_HPP
#define KOKKOS_HOST_SPACES_IMPL_MAP_KERNEL_HPP

#include <KokkosHostSpaces/impl/vector/KernelLaunch.hpp>
#include <KokkosHostSpaces/impl/vector/Packs.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

/// Threads of a block, one for each element or pack: fastest or equal at all sizes on device
/// memory.
inline constexpr unsigned threads_of_map = 256;

struct MapShape {
  unsigned threads;  ///< of a block
  bool packs;        ///< where they are aligned
};

/// The shape of an element-wise kernel. Measured on an H200 with 1 to 3 inputs: large arrays in
/// host memory are read fastest by large blocks without packs (74 GB/s instead of 65 at 2^20
/// doubles).
constexpr MapShape shape_of_map(std::uint64_t elements, bool on_host) {
  constexpr std::uint64_t large = 1 << 19;
  return on_host && elements >= large ? MapShape{1024, false} : MapShape{threads_of_map, true};
}

/// out[i] = op(in[i]...) for the items of one launch.
template <int N, class Op, class Out, class... In>
class PackMap {
 public:
  PackMap(Out* out, InputsOf<In...> const& in, Op const& op) : m_out(out), m_in(in), m_op(op) {}

  /// The map of one launch: `count` items of `split` from `first` on. Needs a thread for each item,
  /// and at least a warp: the last threads also do the elements behind the packs, fewer than N.
  PackMap part(PackSplit const& split, std::uint64_t first, std::uint32_t count) const {
    bool const by_packs          = split.packs > 0;
    std::uint64_t const elements = first * (by_packs ? N : 1), end = first + count;
    PackMap result(m_out + elements, m_in.from(elements), m_op);
    result.m_packs = std::uint32_t(std::min(split.packs, end) - std::min(split.packs, first));
    if (!by_packs)
      result.m_rest = std::uint32_t(std::min(split.rest, end) - first);
    else if (end >= split.packs)
      result.m_rest = std::uint32_t(split.rest);
    return result;
  }

  // Both branches use m_packs, so that nvcc loads it early: saves 0.1 of 2 µs in a graph.
  KOKKOS_FUNCTION void do_item(std::uint32_t item) const {
    if (item < m_packs)
      m_in.pass_to([&](auto const*... in) {
        pack_of<N>(m_out, item) = apply_to_packs<Out, N>(m_op, pack_of<N>(in, item)...);
      });
    if (item < m_rest) (*this)(N * std::uint64_t(m_packs) + item);
  }

  /// Does one element, of the whole map.
  KOKKOS_FUNCTION void operator()(std::integral auto i) const {
    m_in.pass_to([&](auto const*... in) { m_out[i] = Out(m_op(in[i]...)); });
  }

 private:
  Out* m_out;
  InputsOf<In...> m_in;
  std::uint32_t m_packs = 0, m_rest = 0;
  Op m_op;
};

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

/// Calls the body of a parallel_for: one thread for each index.
template <class Body, class Index>
class BodyMap {
 public:
  BodyMap(Body const& body, std::uint64_t first, std::uint32_t count)
      : m_count(count), m_first(Index(first)), m_body(body) {}

  __device__ void operator()() const {
    std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m_count) m_body(Index(std::uint64_t(m_first) + i));
  }

 private:
  std::uint32_t m_count;
  Index m_first;
  Body m_body;
};

/// Runs the PackMap of one launch: one thread for each item.
/// \tparam threads of a block; 0 if they depend on the extent. A constant saves the kernel the wait for a
/// parameter.
template <class Map, unsigned threads>
class ItemMap {
 public:
  explicit ItemMap(Map const& map) : m_map(map) {}

  __device__ void operator()() const {
    m_map.do_item(blockIdx.x * (threads > 0 ? threads : blockDim.x) + threadIdx.x);
  }

 private:
  Map m_map;
};

/// Calls launch(first, count) for parts of `n` items that 32 bits can count.
template <class Launch>
void for_each_launch(std::uint64_t n, Launch const& launch) {
  // A multiple of all block sizes.
  constexpr std::uint64_t most = (std::uint64_t(1) << 32) - most_threads_of_block;
  for (std::uint64_t first = 0; first < n; first += most)
    launch(first, std::uint32_t(std::min(n - first, most)));
}

/// Enqueues body(i) for i = 0 ... n - 1.
template <class Body, class Index>
void enqueue_map(DrivenDevice const& instance, Body const& body, Index n) {
  for_each_launch(std::uint64_t(n), [&](std::uint64_t first, std::uint32_t count) {
    unsigned const threads = std::bit_ceil(std::clamp(count, warp_size, threads_of_map));
    launch<threads_of_map>(instance, BodyMap<Body, Index>(body, first, count),
                           (count - 1) / threads + 1, threads);
  });
}

/// Enqueues all items of a PackMap.
/// \tparam on_host as of shape_of_map
template <bool on_host, class Map>
void enqueue_items(DrivenDevice const& instance, Map const& map, PackSplit const& split,
                   MapShape const& shape) {
  using Kernel                    = ItemMap<Map, on_host ? 0 : threads_of_map>;
  constexpr unsigned most_threads = on_host ? most_threads_of_block : threads_of_map;
  for_each_launch(std::max(split.packs, split.rest), [&](std::uint64_t first, std::uint32_t count) {
    launch<most_threads>(instance, Kernel(map.part(split, first, count)),
                         (count - 1) / shape.threads + 1, shape.threads);
  });
}

#endif  // KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

}  // namespace KokkosHostSpaces::Impl

#endif
