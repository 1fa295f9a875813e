// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CopyBaseline.hpp"

#include "../../plain/PlainBuffer.hpp"
#include "../../plain/CheckCuda.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {
namespace {

using Variants = CopyByVariants::Variants;

__global__ void copy_pairs(double2* destination, double2 const* source, std::size_t pairs) {
  std::size_t const step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < pairs; i += step)
    destination[i] = source[i];
}

Variants by_kernel(std::size_t elements, cudaStream_t stream) {
  std::size_t const pairs = elements / 2;
  auto const of           = [=](unsigned blocks) {
    return [=](double* destination, double const* source) {
      copy_pairs<<<blocks, 512, 0, stream>>>(reinterpret_cast<double2*>(destination),
                                             reinterpret_cast<double2 const*>(source), pairs);
      check_launch();
    };
  };
  Variants all;
  for (unsigned blocks : {132u, 264u, 1056u})
    all.emplace_back(std::to_string(blocks) + " blocks of 512", of(blocks));
  all.emplace_back("a block of 512 for 1024 doubles", of(unsigned((pairs + 511) / 512)));
  return all;
}

// Copy rows of `pairs` pairs of doubles between dense rows and rows with a pitch of twice their length.
__global__ void copy_rows(double2* destination, double2 const* source, unsigned rows,
                          unsigned pairs, unsigned of_plane, bool to_host) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * pairs;
       i += gridDim.x * blockDim.x) {
    unsigned const r = i / pairs, place = of_plane == 0 ? r : r + r / of_plane * of_plane;
    std::size_t const on_host          = 2 * std::size_t(place) * pairs + i % pairs;
    destination[to_host ? on_host : i] = source[to_host ? i : on_host];
  }
}

Variants strided(CopyShape const& shape, bool to_host, cudaStream_t stream) {
  std::size_t const run = shape.columns * sizeof(double), rows = shape.rows;
  bool const planes = shape.layout == CopyLayout::strided_3d;
  Variants all{{"a kernel through the mapped address", [=](double* to, double const* from) {
                  constexpr unsigned threads = 256, most_blocks = 1024;
                  auto const pairs = unsigned(run / sizeof(double2));
                  unsigned const blocks =
                      std::min((unsigned(rows) * pairs + threads - 1) / threads, most_blocks);
                  copy_rows<<<blocks, threads, 0, stream>>>(
                      reinterpret_cast<double2*>(to), reinterpret_cast<double2 const*>(from),
                      unsigned(rows), pairs, planes ? unsigned(rows_of_plane) : 0, to_host);
                  check_launch();
                }}};
  if (!planes)
    all.emplace_back("cudaMemcpy2DAsync", [=](double* to, double const* from) {
      check(cudaMemcpy2DAsync(to, to_host ? 2 * run : run, from, to_host ? run : 2 * run, run, rows,
                              cudaMemcpyDefault, stream),
            "cudaMemcpy2DAsync");
    });
  // With 65536 planes of rows of 64 bytes the call waits for the device.
  constexpr std::size_t most_planes = 16384;
  if (planes && rows / rows_of_plane <= most_planes)
    all.emplace_back("cudaMemcpy3DAsync", [=](double* to, double const* from) {
      auto const side = [&](double const* begin, bool on_host) {
        return make_cudaPitchedPtr(const_cast<double*>(begin), on_host ? 2 * run : run, run,
                                   on_host ? 2 * rows_of_plane : rows_of_plane);
      };
      cudaMemcpy3DParms copy = {};
      copy.dstPtr            = side(to, to_host);
      copy.srcPtr            = side(from, !to_host);
      copy.extent            = make_cudaExtent(run, rows_of_plane, rows / rows_of_plane);
      copy.kind              = cudaMemcpyDefault;
      check(cudaMemcpy3DAsync(&copy, stream), "cudaMemcpy3DAsync");
    });
  return all;
}

constexpr unsigned tile_width = 32, tile_threads = 8;

// Transpose by tiles in shared memory, so that both reads and writes coalesce: element (r, c) is at
// r + c * rows in the source, at r * columns + c in the destination.
__global__ void transpose(double* destination, double const* source, unsigned rows,
                          unsigned columns) {
  __shared__ double tile[tile_width][tile_width + 1];
  unsigned const first_row = blockIdx.x * tile_width, first_column = blockIdx.y * tile_width;
  for (unsigned k = threadIdx.y; k < tile_width; k += tile_threads) {
    unsigned const r = first_row + threadIdx.x, c = first_column + k;
    if (r < rows && c < columns) tile[k][threadIdx.x] = source[r + std::size_t(c) * rows];
  }
  __syncthreads();
  for (unsigned k = threadIdx.y; k < tile_width; k += tile_threads) {
    unsigned const r = first_row + k, c = first_column + threadIdx.x;
    if (r < rows && c < columns) destination[std::size_t(r) * columns + c] = tile[threadIdx.x][k];
  }
}

Variants transposed(CopyShape const& shape, bool to_host, cudaStream_t stream) {
  std::size_t const bytes = shape.elements() * sizeof(double);
  auto const launch       = [=](double* destination, double const* source) {
    auto const tiles = [](std::size_t n) { return unsigned((n + tile_width - 1) / tile_width); };
    transpose<<<dim3(tiles(shape.rows), tiles(shape.columns)), dim3(tile_width, tile_threads), 0,
                stream>>>(destination, source, unsigned(shape.rows), unsigned(shape.columns));
    check_launch();
  };
  auto const staging = std::make_shared<PlainBuffer>(make_plain_buffer(PlainKind::device, bytes));
  return {{"cudaMemcpyAsync and a kernel on the device",
           [=](double* destination, double const* source) {
             auto* const between = static_cast<double*>(staging->get());
             if (to_host) {
               launch(between, source);
               copy_async(destination, between, bytes, stream);
             } else {
               copy_async(between, source, bytes, stream);
               launch(destination, between);
             }
           }},
          {"a kernel through the mapped address", launch}};
}

Variants variants_of(CopyShape const& shape, bool to_host, cudaStream_t stream) {
  switch (shape.layout) {
    case CopyLayout::by_kernel: return by_kernel(shape.elements(), stream);
    case CopyLayout::strided:
    case CopyLayout::strided_3d: return strided(shape, to_host, stream);
    case CopyLayout::transposed: return transposed(shape, to_host, stream);
    default: break;
  }
  return {{"cudaMemcpyAsync", [=](double* destination, double const* source) {
             copy_async(destination, source, shape.elements() * sizeof(double), stream);
           }}};
}

}  // namespace

std::unique_ptr<CopyBaseline> make_copy_baseline(CopyShape const& shape, CopyDirection direction,
                                                 Stream stream) {
  if (is_batch(shape.layout)) return make_batch_baseline(shape, direction, stream);
  return std::make_unique<CopyByVariants>(
      variants_of(shape, direction == CopyDirection::to_host, static_cast<cudaStream_t>(stream)));
}

}  // namespace KokkosHostSpaces::Perf
