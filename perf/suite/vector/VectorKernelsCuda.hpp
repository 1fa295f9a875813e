// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Vector kernels in plain CUDA: a thread takes an element or 16 bytes. Parts of sums are added by atomics, by
// the last block, or by a block that receives them as they come.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_KERNELS_CUDA_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_KERNELS_CUDA_HPP

#include "VectorBaseline.hpp"

#include <cuda_runtime.h>

#include <functional>

namespace KokkosHostSpaces::Perf {

template <class T, int N>
struct alignas(N * sizeof(T)) VectorPack {
  T v[N];
};

/// Loads those values of pack `i` that the operation needs.
template <VectorOperation Op, class T, int N>
__device__ VectorPack<T, N> values_of(VectorArguments<T> const& v, unsigned i) {
  using Pack = VectorPack<T, N>;
  Pack a     = reinterpret_cast<Pack const*>(v.a)[i], b, c, result;
  if constexpr (loads_b<Op>) b = reinterpret_cast<Pack const*>(v.b)[i];
  if constexpr (loads_c<Op>) c = reinterpret_cast<Pack const*>(v.c)[i];
  for (int k = 0; k < N; ++k) result.v[k] = value_of<Op, T>(a.v[k], b.v[k], c.v[k]);
  return result;
}

template <VectorOperation Op, class T, int N>
__global__ void map(VectorArguments<T> v, unsigned packs) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < packs) reinterpret_cast<VectorPack<T, N>*>(v.c)[i] = values_of<Op, T, N>(v, i);
}

template <VectorOperation Op, class T, int N>
__device__ T sum_of(VectorArguments<T> const& v, unsigned i) {
  VectorPack<T, N> const pack = values_of<Op, T, N>(v, i);
  T sum                       = pack.v[0];
  for (int k = 1; k < N; ++k) sum += pack.v[k];
  return sum;
}

template <class T>
__device__ T sum_over_warp(T sum) {
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  return sum;
}

/// Sum over a block; valid in its first thread.
template <class T>
__device__ T sum_over_block(T sum) {
  __shared__ T of_warp[32];
  unsigned const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  sum = sum_over_warp(sum);
  __syncthreads();  // an earlier sum may still use of_warp
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) sum = sum_over_warp(lane < blockDim.x / 32 ? of_warp[lane] : T(0));
  return sum;
}

/// Part of this block; valid in its first thread.
template <VectorOperation Op, class T, int N>
__device__ T part_of_sum(VectorArguments<T> const& v, unsigned packs, unsigned blocks) {
  unsigned const stride = blocks * blockDim.x;
  unsigned i            = blockIdx.x * blockDim.x + threadIdx.x;
  T sum                 = 0;
  for (; i + stride < packs; i += 2 * stride) {
    T const first = sum_of<Op, T, N>(v, i), second = sum_of<Op, T, N>(v, i + stride);
    sum += first + second;
  }
  if (i < packs) sum += sum_of<Op, T, N>(v, i);
  return sum_over_block(sum);
}

template <VectorOperation Op, class T, int N>
__global__ void add_atomically(VectorArguments<T> v, unsigned packs) {
  T const sum = part_of_sum<Op, T, N>(v, packs, gridDim.x);
  if (threadIdx.x == 0) atomicAdd(v.sum, sum);
}

template <VectorOperation Op, class T, int N>
__global__ void last_block_adds(VectorArguments<T> v, unsigned packs, T* parts, unsigned* done) {
  T sum = part_of_sum<Op, T, N>(v, packs, gridDim.x);
  if (gridDim.x == 1) {
    if (threadIdx.x == 0) *v.sum = sum;
    return;
  }
  unsigned before = 0;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(done), "r"(gridDim.x - 1)
                 : "memory");
  }
  if (!__syncthreads_or(before == gridDim.x - 1)) return;
  sum = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) sum += __ldcg(parts + k);
  sum = sum_over_block(sum);
  if (threadIdx.x == 0) *v.sum = sum;
}

/// The part of a block: each four bytes are stored together with a mark, which says that they are valid.
struct alignas(16) MarkedPart {
  unsigned long long low, high;
};
inline constexpr unsigned long long part_mark = 1ULL << 32;

template <class T>
__device__ void post_part(MarkedPart* at, T const& part) {
  unsigned words[2] = {};
  memcpy(words, &part, sizeof(T));
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
               :
               : "l"(at), "l"(part_mark | words[0]), "l"(part_mark | words[1])
               : "memory");
}

/// Waits for the part, and clears its marks.
template <class T>
__device__ T take_part(MarkedPart* at) {
  MarkedPart found;
  do {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(found.low), "=l"(found.high)
                 : "l"(at)
                 : "memory");
  } while ((found.low & found.high & part_mark) == 0);
  *at                     = {0, 0};
  unsigned const words[2] = {unsigned(found.low), unsigned(found.high)};
  T part;
  memcpy(&part, words, sizeof(T));
  return part;
}

/// The last block receives the parts of the others as they come.
template <VectorOperation Op, class T, int N>
__global__ void one_block_takes(VectorArguments<T> v, unsigned packs, MarkedPart* parts) {
  unsigned const adding = gridDim.x - 1;
  if (blockIdx.x < adding) {
    T const part = part_of_sum<Op, T, N>(v, packs, adding);
    if (threadIdx.x == 0) post_part(parts + blockIdx.x, part);
    return;
  }
  T sum = 0;
  for (unsigned k = threadIdx.x; k < adding; k += blockDim.x) sum += take_part<T>(parts + k);
  __syncwarp();  // shuffles of a diverged warp are slow
  sum = sum_over_block(sum);
  if (threadIdx.x == 0) *v.sum = sum;
}

/// Returns a function that enqueues one run by CUB (DeviceReduce, DeviceTransform).
/// \return nullptr if CUB cannot (before CUDA 12.8)
template <class T>
std::function<void(VectorArguments<T> const&)> make_cub_kernels(VectorOperation op,
                                                                std::size_t elements,
                                                                Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
