// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernels of a VectorPolicy on a device: what is passed to the device, and nothing else.

#ifndef KOKKOS_HOST_SPACES_IMPL_VECTOR_KERNELS_HPP
#define KOKKOS_HOST_SPACES_IMPL_VECTOR_KERNELS_HPP

#include <KokkosHostSpaces/impl/VectorShape.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// What one thread does of a reduction: items first, first + stride, ... A functor that has
/// add_share(Share, value) deals out its items itself.
struct Share {
  std::uint64_t first, stride;
};

#ifdef KOKKOS_ENABLE_CUDA

/// Until all earlier work of the stream is done, and what it wrote can be read. The first thing that
/// every thread does, also one with nothing to do: a kernel that has ended is proof of all before it.
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

/// A value before its reducer makes it one: default constructors may be of the host alone.
template <class T>
union Unmade {
  T value;
  __device__ Unmade() {}
};

template <class T>
__device__ T from_lane_above(T const& value, unsigned lanes) {
  constexpr unsigned n = (sizeof(T) + 3) / 4;
  unsigned words[n]    = {};
  std::memcpy(words, &value, sizeof(T));
  for (unsigned& word : words) word = __shfl_down_sync(~0u, word, lanes);
  Unmade<T> result;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result.value;
}

/// Counts one more, and begins again after `last`; what other blocks have written before they
/// counted is visible after it. \return the count before
inline __device__ unsigned count_block(unsigned* counter, unsigned last) {
#if __CUDA_ARCH__ >= 700
  unsigned before;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(last)
               : "memory");
#else
  __threadfence();
  unsigned const before = atomicInc(counter, last);
  __threadfence();
#endif
  return before;
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

/// Each thread reduces its share, each warp and block theirs, and the last block that is done all
/// blocks' parts, in order.
template <class FunctorReducer, class Policy_>
class VectorReduction {
  using Index = typename Policy_::index_type;

 public:
  using Policy       = Policy_;
  using functor_type = typename FunctorReducer::functor_type;
  using reducer_type = typename FunctorReducer::reducer_type;
  using Value        = typename reducer_type::value_type;

  VectorReduction(FunctorReducer const& functor_reducer, Index begin, Index end)
      : m_count(std::uint64_t(end) - std::uint64_t(begin)),
        m_functor_reducer(functor_reducer),
        m_begin(begin) {}

  __device__ void operator()() const {
    wait_for_earlier_work();
    auto const& reducer = m_functor_reducer.get_reducer();
    Unmade<Value> made;
    Value& part = made.value;
    reducer.init(&part);
    add_share({std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x,
               std::uint64_t(gridDim.x) * blockDim.x},
              part);
    join_block(part);
    if (gridDim.x > 1 && !join_blocks(part)) return;
    if (threadIdx.x != 0) return;
    reducer.final(&part);
    *m_result = part;
  }

 protected:
  std::uint64_t count() const { return m_count; }
  void set_result(Value* result) { m_result = result; }
  Value* result() const { return m_result; }

  void use_scratch(void* parts, unsigned* blocks_done) {
    m_parts       = static_cast<Value*>(parts);
    m_blocks_done = blocks_done;
  }

 private:
  __device__ void add_share(Share const& share, Value& part) const {
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

  // Into the first lane; of as many lanes as have parts, a power of two.
  __device__ void join_warp(Value& part, unsigned lanes) const {
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
      if (distance >= lanes) continue;  // and not a shorter loop, which would not be unrolled
      Value const other = from_lane_above(part, distance);
      m_functor_reducer.get_reducer().join(&part, &other);
    }
  }

  // Into the first thread.
  __device__ void join_block(Value& part) const {
    __shared__ alignas(Value) unsigned char storage[warp_size * sizeof(Value)];
    Value* const of_warp = reinterpret_cast<Value*>(storage);
    unsigned const warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    unsigned const warps = blockDim.x / warp_size;
    join_warp(part, warp_size);
    if (warps == 1) return;
    if (lane == 0) of_warp[warp] = part;
    __syncthreads();
    if (warp != 0) return;
    if (lane < warps) part = of_warp[lane];
    join_warp(part, warps);
  }

  // Into the first thread of the last block that is done; false in the others.
  __device__ bool join_blocks(Value& part) const {
    unsigned const blocks = gridDim.x;
    bool last             = false;
    if (threadIdx.x == 0) {
      m_parts[blockIdx.x] = part;
      last                = count_block(m_blocks_done, blocks - 1) == blocks - 1;
    }
    if (!__syncthreads_or(last)) return false;
    auto const& reducer = m_functor_reducer.get_reducer();
    reducer.init(&part);
    for (unsigned k = threadIdx.x; k < blocks; k += blockDim.x) reducer.join(&part, &m_parts[k]);
    join_block(part);
    return true;
  }

  std::uint64_t m_count;
  FunctorReducer m_functor_reducer;
  Index m_begin;
  Value* m_result         = nullptr;
  Value* m_parts          = nullptr;
  unsigned* m_blocks_done = nullptr;
};

#endif  // KOKKOS_ENABLE_CUDA

}  // namespace KokkosHostSpaces::Impl

#endif
