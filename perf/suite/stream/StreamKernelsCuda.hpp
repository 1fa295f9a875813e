// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels of the baselines, on some planes of the arrays.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_KERNELS_CUDA_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_KERNELS_CUDA_HPP

#include "../../plain/CheckCuda.hpp"
#include "StreamBaseline.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace KokkosHostSpaces::Perf {

__device__ inline std::int64_t stream_index() {
  return std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}

static __global__ void stream_triad(double* a, double const* b, double const* c, std::int64_t n) {
  std::int64_t const i = stream_index();
  if (i < n) a[i] = b[i] + 3 * c[i];
}

static __global__ void stream_update(double* a, std::int64_t n) {
  std::int64_t const i = stream_index();
  if (i < n) a[i] = 7 - a[i];
}

static __global__ void stream_dot(double const* b, double const* c, std::int64_t n, double* sum) {
  double mine               = 0;
  std::int64_t const stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = stream_index(); i < n; i += stride) mine += b[i] * c[i];
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(~0u, mine, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

// The stencil at a point inside of the cube.
__device__ inline double seven_points(double const* u, std::int64_t plane, std::int64_t row) {
  return 0.125 * (2 * u[0] + u[-plane] + u[plane] + u[-row] + u[row] + u[-1] + u[1]);
}

// Each block computes a row; `first` is the number of the first plane in the cube.
static __global__ void stream_stencil(double* a, double const* b, StreamShape shape,
                                      std::int64_t first) {
  std::int64_t const plane = shape.rows * shape.columns, row = shape.columns;
  std::int64_t const i = first + blockIdx.y, j = blockIdx.x;
  bool const face = i == 0 || i == shape.planes - 1 || j == 0 || j == shape.rows - 1;
  for (std::int64_t k = threadIdx.x; k < row; k += blockDim.x) {
    std::int64_t const e = blockIdx.y * plane + j * row + k;
    a[e]                 = face || k == 0 || k == row - 1 ? b[e] : seven_points(b + e, plane, row);
  }
}

/// Planes [first, last).
struct Planes {
  std::int64_t first, last;
  std::int64_t count() const { return last - first; }
};

/// Launches the loop's kernel on some planes. a, b and c are device addresses of the first of them; a dot
/// adds to *sum on the device.
inline void launch_stream_kernel(StreamLoop const& loop, Planes planes, StreamArrays const& at,
                                 double* sum, unsigned threads, cudaStream_t stream) {
  std::int64_t const n  = planes.count() * loop.shape.plane();
  unsigned const blocks = unsigned((n + threads - 1) / threads);
  switch (loop.operation) {
    case StreamOperation::triad:
      stream_triad<<<blocks, threads, 0, stream>>>(at.a, at.b, at.c, n);
      break;
    case StreamOperation::update: stream_update<<<blocks, threads, 0, stream>>>(at.a, n); break;
    case StreamOperation::dot:
      stream_dot<<<std::min(blocks, 264 * 1024 / threads), threads, 0, stream>>>(at.b, at.c, n,
                                                                                 sum);
      break;
    case StreamOperation::stencil:
      stream_stencil<<<dim3(unsigned(loop.shape.rows), unsigned(planes.count())),
                       std::min(threads, 256u), 0, stream>>>(at.a, at.b, loop.shape, planes.first);
      break;
  }
  check_launch();
}

/// Copies that a loop implies.
struct Traffic {
  bool a_in, b_in, c_in, a_out;
  std::int64_t halo;  ///< planes of b at both ends
};
inline Traffic traffic_of(StreamOperation operation) {
  switch (operation) {
    case StreamOperation::triad: return {false, true, true, true, 0};
    case StreamOperation::dot: return {false, true, true, false, 0};
    case StreamOperation::update: return {true, false, false, true, 0};
    case StreamOperation::stencil: break;
  }
  return {false, true, false, true, 1};
}

/// Makes a baseline that works in chunks (pipeline, serial); in PipelineBaselineCuda.cpp.
std::unique_ptr<StreamBaseline> make_chunked_baseline(StreamWay way, StreamLoop const& loop);

}  // namespace KokkosHostSpaces::Perf

#endif
