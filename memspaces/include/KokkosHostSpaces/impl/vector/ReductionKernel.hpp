// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel of parallel_reduce and element_sum on a device: its shape, how blocks hand their parts
// to the last block (BlockMailbox), and the reduction itself (VectorReduction). It is one kernel,
// and repeatable: the order of all terms follows from the number of items and the block size.

#ifndef KOKKOS_HOST_SPACES_IMPL_REDUCTION_KERNEL_HPP
#define KOKKOS_HOST_SPACES_IMPL_REDUCTION_KERNEL_HPP

#include <KokkosHostSpaces/impl/vector/KernelLaunch.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionResult.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

struct SumShape {
  unsigned blocks, threads;
};

/// The shape of a reduction: one block as long as a thread has at most two items, then a thread for
/// each item, up to 264 blocks of 1024. Measured on an H200 with dot products of doubles and floats
/// that are not in the cache, from streams and in graphs.
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

/// The grid-stride loop of one thread: items first, first + stride, ... A functor with
/// add_share(GridStride, value) runs that loop itself.
struct GridStride {
  std::uint64_t first, stride;
};

/// A value that its reducer initialises. Calls no constructor, which may be host code.
template <class T>
union Uninitialized {
  T value;
  KOKKOS_FUNCTION Uninitialized() {}
};

/// One slot for each block, in device memory that is zero before and after each kernel. Stores each
/// word of a part together with a mark: a reader that sees the mark has the word. That takes one
/// trip through the L2 cache; a fence, a counter and a load take three.
template <class T>
class BlockMailbox {
  static constexpr unsigned words = (sizeof(T) + 3) / 4, pairs = (words + 1) / 2;

 public:
  /// A multiple of 16.
  static constexpr std::size_t bytes(unsigned blocks) {
    return std::size_t(blocks) * sizeof(Pair) * pairs;
  }
  void use(void* zeros) { m_pairs = static_cast<Pair*>(zeros); }

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE
  /// Call it first, since slots of a captured sum are cold: prefetches the slot into the L2 cache,
  /// which the whole device shares.
  __device__ void prefetch_slot(unsigned block) const {
    auto const slot = __cvta_generic_to_global(m_pairs + std::size_t(block) * pairs);
    asm volatile("prefetch.global.L2 [%0];" : : "l"(slot));
  }

  __device__ void post(unsigned block, T const& part) const {
    std::uint32_t word[2 * pairs] = {};
    std::memcpy(word, &part, sizeof(T));
    for (unsigned p = 0; p < pairs; ++p)
      store(m_pairs + std::size_t(block) * pairs + p, {mark | word[2 * p], mark | word[2 * p + 1]});
  }

  /// Waits for the part of `block`, and zeroes its slot. Call it from a block of a higher number:
  /// the hardware starts blocks in order, which CUB's scans assume, too (NVIDIA/cub#245).
  __device__ T take(unsigned block) const {
    std::uint32_t word[2 * pairs];
    for (unsigned p = 0; p < pairs; ++p) {
      Pair* const at  = m_pairs + std::size_t(block) * pairs + p;
      Pair const pair = wait(at);
      store(at, {0, 0});
      word[2 * p]     = std::uint32_t(pair.first);
      word[2 * p + 1] = std::uint32_t(pair.second);
    }
    Uninitialized<T> part;
    std::memcpy(static_cast<void*>(&part), word, sizeof(T));
    return part.value;
  }
#endif

 private:
  struct alignas(16) Pair {
    std::uint64_t first, second;
  };
  static constexpr std::uint64_t mark = std::uint64_t(1) << 32;

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE
  // Stores both words by one instruction.
  static __device__ void store(Pair* at, Pair const& pair) {
    auto const address = __cvta_generic_to_global(at);
#if __CUDA_ARCH__ >= 700
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
#else
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};"
#endif
                 :
                 : "l"(address), "l"(pair.first), "l"(pair.second)
                 : "memory");
  }

  static __device__ Pair load(Pair* at) {
    auto const address = __cvta_generic_to_global(at);
    Pair pair;
#if __CUDA_ARCH__ >= 700
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
#else
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
#endif
                 : "=l"(pair.first), "=l"(pair.second)
                 : "l"(address)
                 : "memory");
    return pair;
  }

  static __device__ Pair wait(Pair* at) {
    Pair pair = load(at);
    while (((pair.first & pair.second) & mark) == 0) pair = load(at);
    return pair;
  }
#endif

  Pair* m_pairs = nullptr;
};

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

/// Applies `shuffle`, a warp shuffle of 32 bits, to all words of a value.
template <class T, class Shuffle>
__device__ T shuffle_words(T const& value, Shuffle const& shuffle) {
  constexpr unsigned n = (sizeof(T) + 3) / 4;
  unsigned words[n]    = {};
  std::memcpy(words, &value, sizeof(T));
  for (unsigned& word : words) word = shuffle(word);
  Uninitialized<T> result;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result.value;
}

/// The value of the thread that is `distance` threads above in the warp.
template <class T>
__device__ T from_lane_above(T const& value, unsigned distance) {
  return shuffle_words(value, [&](unsigned word) { return __shfl_down_sync(~0u, word, distance); });
}

/// Each thread reduces its items, each warp and block its threads, and the last block joins the
/// parts of all blocks, in order. The parameters that each thread needs come first: they arrive by
/// lines of 64 bytes, and one block alone runs for two microseconds.
template <class Body, class Reducer, class Index>
class VectorReduction {
 public:
  using Value = typename Reducer::value_type;

  VectorReduction(Body const& body, Reducer const& reducer, std::uint64_t count, Value* result)
      : m_result(result), m_body(body), m_count(count), m_reducer(reducer) {}

  void use_workspace(void* zeros) { m_mailbox.use(zeros); }

  __device__ void operator()() const {
    GridStride const share = {blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x};
    unsigned const last    = gridDim.x - 1;
    if (last > 0 && threadIdx.x == 0) m_mailbox.prefetch_slot(blockIdx.x);
    Uninitialized<Value> storage;
    Value& part = storage.value;
    init(part);
    add_share(share, part);
    join_block(part);
    if (last > 0) {
      if (blockIdx.x != last) {
        if (threadIdx.x == 0) m_mailbox.post(blockIdx.x, part);
        return;
      }
      join_parts(last, part);
    }
    if (threadIdx.x != 0) return;
    if constexpr (body_may_have_steps && requires { m_body.final(part); })
      m_body.final(part);
    else if constexpr (requires { m_reducer.final(part); })
      m_reducer.final(part);
    *m_result = part;
  }

 private:
  static constexpr bool body_may_have_steps = std::is_same_v<Reducer, Adding<Value>>;

  __device__ void init(Value& value) const {
    if constexpr (body_may_have_steps && requires { m_body.init(value); })
      m_body.init(value);
    else
      init_value(m_reducer, value);
  }

  __device__ void join(Value& to, Value const& from) const {
    if constexpr (body_may_have_steps && requires { m_body.join(to, from); })
      m_body.join(to, from);
    else
      m_reducer.join(to, from);
  }

  __device__ void add_share(GridStride const& share, Value& part) const {
    if constexpr (requires { m_body.add_share(share, part); }) {
      m_body.add_share(share, part);
    } else {
      std::uint64_t i = share.first;
      for (; i + share.stride < m_count; i += 2 * share.stride) {  // the loads of two overlap
        m_body(Index(i), part);
        m_body(Index(i + share.stride), part);
      }
      if (i < m_count) m_body(Index(i), part);
    }
  }

  // Into the first thread of the warp.
  __device__ void join_warp(Value& part) const {
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
      Value const other = from_lane_above(part, distance);
      join(part, other);
    }
  }

  // Into the first thread of the block.
  __device__ void join_block(Value& part) const {
    __shared__ alignas(Value) unsigned char storage[warp_size * sizeof(Value)];
    Value* const of_warp = reinterpret_cast<Value*>(storage);
    unsigned const warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    join_warp(part);
    if (lane == 0) of_warp[warp] = part;
    __syncthreads();
    if (warp != 0) return;
    if (lane < blockDim.x / warp_size)
      part = of_warp[lane];
    else
      init(part);
    join_warp(part);
  }

  // The parts of blocks 0 to `blocks` - 1, into the first thread of the last block.
  __device__ void join_parts(unsigned blocks, Value& part) const {
    Uninitialized<Value> storage;
    Value& others = storage.value;
    init(others);
    for (unsigned k = threadIdx.x; k < blocks; k += blockDim.x) {
      Value const other = m_mailbox.take(k);
      join(others, other);
    }
    // The shared memory of join_block is in use until here. Threads of a warp that waited for
    // different times must also converge before they shuffle: 0.3 µs for a float, 0.6 for a double.
    __syncthreads();
    if (blocks > warp_size)
      join_block(others);
    else if (threadIdx.x < warp_size)
      join_warp(others);
    if (threadIdx.x == 0) join(part, others);
  }

  Value* m_result;
  BlockMailbox<Value> m_mailbox;
  Body m_body;
  std::uint64_t m_count;
  Reducer m_reducer;
};

/// Enqueues the reduction of `items` items to one value, which a kernel can write. The mailbox of the
/// blocks lies in a workspace of the stream, whose kernels run one after the other.
/// \tparam most_threads of a block, which leaves each thread 65536 / most_threads registers
template <unsigned most_threads, class Index, class Body, class Reducer>
void enqueue_reduction(DrivenDevice const& instance, std::uint64_t items, Body const& body,
                       Reducer const& reducer, typename Reducer::value_type* result) {
  using Kernel         = VectorReduction<Body, Reducer, Index>;
  SumShape const shape = shape_of_sum(items, most_threads);
  Kernel kernel(body, reducer, items, result);
  if (shape.blocks > 1)
    kernel.use_workspace(
        reduction_workspace(stream_of(instance), device_id_of(instance),
                            BlockMailbox<typename Kernel::Value>::bytes(shape.blocks)));
  launch<most_threads>(instance, kernel, shape.blocks, shape.threads);
}

/// The same, told to Kokkos Tools. Waits for the value if `Space`, where the result lies, is not
/// accessible to kernels.
template <class Space, unsigned most_threads, class Index, class Body, class Reducer>
void reduce(std::string const& label, DrivenDevice const& instance, std::uint64_t items,
            Body const& body, Reducer const& reducer, typename Reducer::value_type* result) {
  using Value = typename Reducer::value_type;
  ToldKernel const told(ToldKernel::Kind::reduction, label, instance);
  if constexpr (Kokkos::SpaceAccessibility<DrivenDevice, Space>::accessible) {
    enqueue_reduction<most_threads, Index>(instance, items, body, reducer, result);
  } else {
    ResultSlot const slot(device_id_of(instance));
    auto* const arrives = static_cast<Value*>(slot.data());
    enqueue_reduction<most_threads, Index>(instance, items, body, reducer, arrives);
    instance.fence("KokkosHostSpaces: the host gets the result of a reduction");
    *result = *arrives;
  }
}

#endif  // KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

}  // namespace KokkosHostSpaces::Impl

#endif
