// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernels of a VectorPolicy on a device: what is passed to the device, and nothing else.

#ifndef KOKKOS_HOST_SPACES_IMPL_VECTOR_KERNELS_HPP
#define KOKKOS_HOST_SPACES_IMPL_VECTOR_KERNELS_HPP

#include <KokkosHostSpaces/impl/vector/BlockMailbox.hpp>
#include <KokkosHostSpaces/impl/vector/VectorShape.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// What one thread does of a reduction: items first, first + stride, ... A functor that has
/// add_share(GridStride, value) deals out its items itself; prefetch_share(GridStride) comes before it, while
/// earlier work may still write what the share reads.
struct GridStride {
  std::uint64_t first, stride;
};

#ifdef KOKKOS_ENABLE_CUDA

/// Until all earlier work of the stream is done, and what it wrote can be read. Before it a thread may
/// prefetch, but neither reads nor writes; and every thread does it, also one with nothing to do: a
/// kernel that has ended is proof of all before it.
inline __device__ void wait_for_earlier_work() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#ifdef KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK  // then it fences behind each, and tells of errors
inline constexpr bool kokkos_checks_launches = true;
#else
inline constexpr bool kokkos_checks_launches = false;
#endif

/// f(i) or f(tag, i).
template <class Tag, class Functor, class... Arguments>
__device__ void call(Functor const& functor, Arguments&&... arguments) {
  if constexpr (std::is_void_v<Tag>)
    functor(static_cast<Arguments&&>(arguments)...);
  else
    functor(Tag(), static_cast<Arguments&&>(arguments)...);
}

/// A thread for each index, counted in 32 bits: that is shorter for kernels of two microseconds.
/// What is needed first is the first argument, since they arrive by lines.
template <class Functor, class Policy_>
class VectorMap {
  using Index = typename Policy_::index_type;

 public:
  using Policy       = Policy_;
  using functor_type = Functor;

  static constexpr unsigned threads_of_block = 0;  // whatever it is launched with

  VectorMap(Functor const& functor, Index begin, std::uint32_t count)
      : m_count(count), m_begin(begin), m_functor(functor) {}

  __device__ void operator()() const {
    wait_for_earlier_work();
    std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m_count) call<typename Policy::work_tag>(m_functor, Index(std::uint64_t(m_begin) + i));
  }

 private:
  std::uint32_t m_count;
  Index m_begin;
  Functor m_functor;
};

struct ByItem;

/// Over items; of a functor that has part(first, count), which does those of one launch, and
/// threads_of_block.
template <class Functor, class Policy_>
requires std::is_same_v<typename Policy_::work_tag, ByItem>
class VectorMap<Functor, Policy_> {
 public:
  using Policy       = Policy_;
  using functor_type = Functor;

  VectorMap(Functor const& functor, typename Policy::index_type begin, std::uint32_t count)
      : m_part(functor.part(std::uint64_t(begin), count)) {}

  static constexpr unsigned threads_of_block = Functor::threads_of_block;

  __device__ void operator()() const {
    wait_for_earlier_work();
    unsigned const threads = threads_of_block > 0 ? threads_of_block : blockDim.x;
    m_part(blockIdx.x * threads + threadIdx.x);
  }

 private:
  decltype(std::declval<Functor const&>().part(0, 0)) m_part;
};

template <class T>
__device__ T from_lane_above(T const& value, unsigned lanes) {
  constexpr unsigned n = (sizeof(T) + 3) / 4;
  unsigned words[n]    = {};
  std::memcpy(words, &value, sizeof(T));
  for (unsigned& word : words) word = __shfl_down_sync(~0u, word, lanes);
  Uninitialized<T> result;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result.value;
}

/// Of `lane` of each `lanes` lanes, a power of two; the whole warp asks.
template <class T>
__device__ T from_lane(T const& value, unsigned lane, unsigned lanes) {
  constexpr unsigned n = (sizeof(T) + 3) / 4;
  unsigned words[n]    = {};
  std::memcpy(words, &value, sizeof(T));
  for (unsigned& word : words) word = __shfl_sync(~0u, word, int(lane), int(lanes));
  Uninitialized<T> result;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result.value;
}

template <class FunctorReducer>
inline constexpr bool is_reduced_in_registers = [] {
  using Reducer = typename FunctorReducer::reducer_type;
  using Value   = typename Reducer::value_type;
  if constexpr (Reducer::static_value_size() > 0)
    return std::is_trivially_copyable_v<Value> && sizeof(Value) <= 1024;
  else
    return false;
}();

/// Each thread reduces its share, each warp and block theirs, and the last block takes all blocks'
/// parts, in order. One block alone runs for two microseconds: it comes first, without a branch it
/// can do without, and what each thread needs is in the first arguments, which arrive by lines of 64
/// bytes.
template <class FunctorReducer, class Policy_>
class VectorReduction {
  using Index = typename Policy_::index_type;

 public:
  using Policy       = Policy_;
  using functor_type = typename FunctorReducer::functor_type;
  using reducer_type = typename FunctorReducer::reducer_type;
  using Value        = typename reducer_type::value_type;

  VectorReduction(FunctorReducer const& functor_reducer, Index begin, Index end)
      : m_functor_reducer(functor_reducer),
        m_count(std::uint64_t(end) - std::uint64_t(begin)),
        m_begin(begin) {}

  __device__ void operator()() const {
    GridStride const share = {blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x};
    unsigned const last    = gridDim.x - 1;
#if __CUDA_ARCH__ >= 900  // while earlier work ends
    if (last > 0 && threadIdx.x == 0) m_parts.await_part(blockIdx.x);
    auto const& functor = m_functor_reducer.get_functor();
    if constexpr (requires { functor.prefetch_share(share); }) functor.prefetch_share(share);
#endif
    wait_for_earlier_work();
    auto const& reducer = m_functor_reducer.get_reducer();
    Uninitialized<Value> made;
    Value& part = made.value;
    reducer.init(&part);
    add_share(share, part);
    join_block(part);
    if (last > 0) {
      if (blockIdx.x != last) {
        if (threadIdx.x == 0) m_parts.post(blockIdx.x, part);
        return;
      }
      add_blocks(last, part);
    }
    if (threadIdx.x != 0) return;
    reducer.final(&part);
    *m_result = part;
  }

 protected:
  std::uint64_t count() const { return m_count; }
  void set_result(Value* result) { m_result = result; }
  Value* result() const { return m_result; }
  void use_scratch(void* zeros) { m_parts.use(zeros); }

 private:
  __device__ void add_share(GridStride const& share, Value& part) const {
    auto const& functor = m_functor_reducer.get_functor();
    if constexpr (requires { functor.add_share(share, part); }) {
      functor.add_share(share, part);
    } else {
      using Tag             = typename Policy::work_tag;
      std::uint64_t const n = m_count;
      std::uint64_t i       = share.first;
      auto const index      = [&](std::uint64_t k) { return Index(std::uint64_t(m_begin) + k); };
      for (; i + share.stride < n; i += 2 * share.stride) {  // so that the loads of two overlap
        call<Tag>(functor, index(i), part);
        call<Tag>(functor, index(i + share.stride), part);
      }
      if (i < n) call<Tag>(functor, index(i), part);
    }
  }

  // Into the first lane.
  __device__ void join_warp(Value& part) const {
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
      Value const other = from_lane_above(part, distance);
      m_functor_reducer.get_reducer().join(&part, &other);
    }
  }

  // Into the first thread.
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
      m_functor_reducer.get_reducer().init(&part);
    join_warp(part);
  }

  // Those of so many blocks, into the first thread. Threads of a warp of which some have waited are
  // brought together before they shuffle: else that took 0.3 µs longer for a float, 0.6 for a double.
  __device__ void add_blocks(unsigned blocks, Value& part) const {
    auto const& reducer = m_functor_reducer.get_reducer();
    Uninitialized<Value> made;
    Value& others = made.value;
    reducer.init(&others);
    for (unsigned k = threadIdx.x; k < blocks; k += blockDim.x) {
      Value const other = m_parts.take(k);
      reducer.join(&others, &other);
    }
    __syncthreads();  // and what join_block shares is in use
    if (blocks > warp_size)
      join_block(others);
    else if (threadIdx.x < warp_size)
      join_warp(others);
    if (threadIdx.x == 0) reducer.join(&part, &others);
  }

  Value* m_result = nullptr;
  BlockMailbox<Value> m_parts;
  FunctorReducer m_functor_reducer;
  std::uint64_t m_count;
  Index m_begin;
};

#endif  // KOKKOS_ENABLE_CUDA

}  // namespace KokkosHostSpaces::Impl

#endif
