// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel of a parallel_for over a VectorPolicy on a device, its block sizes, and the functor of
// element_wise. A kernel of two microseconds mostly waits for instructions and parameters.
// Therefore the work of a thread comes first, indices have 32 bits, and the parameters of a thread
// lie in the first 48 bytes, which arrive together.

#ifndef KOKKOS_HOST_SPACES_IMPL_MAP_KERNEL_HPP
#define KOKKOS_HOST_SPACES_IMPL_MAP_KERNEL_HPP

#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>
#include <KokkosHostSpaces/impl/vector/Packs.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

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
  KOKKOS_FUNCTION void operator()(std::uint32_t item) const {
    if (item < m_packs) do_pack(item);
    if (item < m_rest) do_element(N * std::uint64_t(m_packs) + item);
  }

  KOKKOS_FUNCTION void do_pack(std::integral auto i) const {
    m_in.pass_to([&](auto const*... in) {
      pack_of<N>(m_out, i) = apply_to_packs<Out, N>(m_op, pack_of<N>(in, i)...);
    });
  }
  KOKKOS_FUNCTION void do_element(std::integral auto i) const {
    m_in.pass_to([&](auto const*... in) { m_out[i] = Out(m_op(in[i]...)); });
  }

 private:
  Out* m_out;
  InputsOf<In...> m_in;
  std::uint32_t m_packs = 0, m_rest = 0;
  Op m_op;
};

#ifdef KOKKOS_ENABLE_CUDA

/// One thread for each index.
template <class Functor, class Policy_>
class VectorMap {
  using Index = typename Policy_::index_type;

 public:
  using Policy       = Policy_;
  using functor_type = Functor;

  static constexpr unsigned threads_of_block = 0;  ///< any

  VectorMap(Functor const& functor, Index begin, std::uint32_t count)
      : m_count(count), m_begin(begin), m_functor(functor) {}

  __device__ void operator()() const {
    wait_for_earlier_work();
    std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m_count) return;
    Index const index(std::uint64_t(m_begin) + i);
    if constexpr (std::is_void_v<typename Policy::work_tag>)
      m_functor(index);
    else
      m_functor(typename Policy::work_tag(), index);
  }

 private:
  std::uint32_t m_count;
  Index m_begin;
  Functor m_functor;
};

/// One thread for each item of a functor that has part(first, count), which makes the functor of
/// one launch, and threads_of_block.
template <class Functor, class Policy_>
requires std::is_same_v<typename Policy_::work_tag, ByItem>
class VectorMap<Functor, Policy_> {
 public:
  using Policy       = Policy_;
  using functor_type = Functor;

  static constexpr unsigned threads_of_block = Functor::threads_of_block;

  VectorMap(Functor const& functor, typename Policy::index_type begin, std::uint32_t count)
      : m_part(functor.part(std::uint64_t(begin), count)) {}

  __device__ void operator()() const {
    wait_for_earlier_work();
    unsigned const threads = threads_of_block > 0 ? threads_of_block : blockDim.x;
    m_part(blockIdx.x * threads + threadIdx.x);
  }

 private:
  decltype(std::declval<Functor const&>().part(0, 0)) m_part;
};

#endif  // KOKKOS_ENABLE_CUDA

}  // namespace KokkosHostSpaces::Impl

#endif
