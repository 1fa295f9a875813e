// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CopyBaseline.hpp"

#include "../../plain/PlainBuffer.hpp"
#include "../../plain/CheckCuda.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {
namespace {

class ContiguousBaseline final : public CopyBaseline {
 public:
  ContiguousBaseline(std::size_t bytes, cudaStream_t stream) : m_bytes(bytes), m_stream(stream) {}

  std::vector<std::string> variants() const override { return {"cudaMemcpyAsync"}; }
  void enqueue(double* destination, double const* source) override {
    copy_async(destination, source, m_bytes, m_stream);
  }

 private:
  std::size_t m_bytes;
  cudaStream_t m_stream;
};

__global__ void copy_pairs(double2* destination, double2 const* source, std::size_t pairs) {
  std::size_t const step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < pairs; i += step)
    destination[i] = source[i];
}

class KernelBaseline final : public CopyBaseline {
 public:
  KernelBaseline(std::size_t elements, cudaStream_t stream)
      : m_pairs(elements / 2), m_stream(stream) {}

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (unsigned blocks : grids) names.push_back(std::to_string(blocks) + " blocks of 512");
    names.emplace_back("a block of 512 for 1024 doubles");
    return names;
  }
  void choose(int variant) override {
    m_blocks =
        std::size_t(variant) < std::size(grids) ? grids[variant] : unsigned((m_pairs + 511) / 512);
  }
  void enqueue(double* destination, double const* source) override {
    copy_pairs<<<m_blocks, 512, 0, m_stream>>>(reinterpret_cast<double2*>(destination),
                                               reinterpret_cast<double2 const*>(source), m_pairs);
    check_launch();
  }

 private:
  static constexpr unsigned grids[] = {132, 264, 1056};

  std::size_t m_pairs;
  unsigned m_blocks = grids[0];
  cudaStream_t m_stream;
};

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

class StridedBaseline final : public CopyBaseline {
 public:
  StridedBaseline(CopyShape const& shape, CopyDirection direction, cudaStream_t stream)
      : m_run(shape.columns * sizeof(double)),
        m_rows(shape.rows),
        m_planes(shape.layout == CopyLayout::strided_3d),
        m_to_host(direction == CopyDirection::to_host),
        m_stream(stream) {}

  std::vector<std::string> variants() const override {
    std::vector<std::string> all{"a kernel through the mapped address"};
    if (!m_planes) all.emplace_back("cudaMemcpy2DAsync");
    if (m_planes && m_rows / rows_of_plane <= most_planes) all.emplace_back("cudaMemcpy3DAsync");
    return all;
  }
  void choose(int variant) override { m_in_place = variant == 0; }

  void enqueue(double* destination, double const* source) override {
    if (m_in_place)
      launch(destination, source);
    else if (m_planes)
      copy_planes(destination, source);
    else
      check(cudaMemcpy2DAsync(destination, m_to_host ? 2 * m_run : m_run, source,
                              m_to_host ? m_run : 2 * m_run, m_run, m_rows, cudaMemcpyDefault,
                              m_stream),
            "cudaMemcpy2DAsync");
  }

 private:
  void copy_planes(double* destination, double const* source) const {
    auto const side = [&](double const* begin, bool on_host) {
      return make_cudaPitchedPtr(const_cast<double*>(begin), on_host ? 2 * m_run : m_run, m_run,
                                 on_host ? 2 * rows_of_plane : rows_of_plane);
    };
    cudaMemcpy3DParms copy = {};
    copy.dstPtr            = side(destination, m_to_host);
    copy.srcPtr            = side(source, !m_to_host);
    copy.extent            = make_cudaExtent(m_run, rows_of_plane, m_rows / rows_of_plane);
    copy.kind              = cudaMemcpyDefault;
    check(cudaMemcpy3DAsync(&copy, m_stream), "cudaMemcpy3DAsync");
  }

  void launch(double* destination, double const* source) const {
    constexpr unsigned threads = 256, most_blocks = 1024;
    auto const rows = unsigned(m_rows), pairs = unsigned(m_run / sizeof(double2));
    unsigned const blocks = std::min((rows * pairs + threads - 1) / threads, most_blocks);
    copy_rows<<<blocks, threads, 0, m_stream>>>(
        reinterpret_cast<double2*>(destination), reinterpret_cast<double2 const*>(source), rows,
        pairs, m_planes ? unsigned(rows_of_plane) : 0, m_to_host);
    check_launch();
  }

  // With 65536 planes of rows of 64 bytes the call waits for the device.
  static constexpr std::size_t most_planes = 16384;

  std::size_t m_run, m_rows;
  bool m_planes, m_to_host, m_in_place = true;
  cudaStream_t m_stream;
};

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

class TransposedBaseline final : public CopyBaseline {
 public:
  TransposedBaseline(CopyShape const& shape, CopyDirection direction, cudaStream_t stream)
      : m_shape(shape),
        m_to_host(direction == CopyDirection::to_host),
        m_stream(stream),
        m_staging(make_plain_buffer(PlainKind::device, bytes())) {}

  std::vector<std::string> variants() const override {
    return {"cudaMemcpyAsync and a kernel on the device", "a kernel through the mapped address"};
  }
  void choose(int variant) override { m_in_place = variant == 1; }

  void enqueue(double* destination, double const* source) override {
    double* const staging = static_cast<double*>(m_staging.get());
    if (m_in_place) {
      launch(destination, source);
    } else if (m_to_host) {
      launch(staging, source);
      copy(destination, staging);
    } else {
      copy(staging, source);
      launch(destination, staging);
    }
  }

 private:
  std::size_t bytes() const { return m_shape.elements() * sizeof(double); }

  void copy(double* destination, double const* source) {
    copy_async(destination, source, bytes(), m_stream);
  }

  void launch(double* destination, double const* source) {
    auto const tiles = [](std::size_t n) { return unsigned((n + tile_width - 1) / tile_width); };
    transpose<<<dim3(tiles(m_shape.rows), tiles(m_shape.columns)), dim3(tile_width, tile_threads),
                0, m_stream>>>(destination, source, unsigned(m_shape.rows),
                               unsigned(m_shape.columns));
    check_launch();
  }

  CopyShape m_shape;
  bool m_to_host, m_in_place = false;
  cudaStream_t m_stream;
  PlainBuffer m_staging;
};

}  // namespace

std::unique_ptr<CopyBaseline> make_copy_baseline(CopyShape const& shape, CopyDirection direction,
                                                 Stream stream) {
  auto const cuda_stream = static_cast<cudaStream_t>(stream);
  switch (shape.layout) {
    case CopyLayout::contiguous:
      return std::make_unique<ContiguousBaseline>(shape.elements() * sizeof(double), cuda_stream);
    case CopyLayout::by_kernel:
      return std::make_unique<KernelBaseline>(shape.elements(), cuda_stream);
    case CopyLayout::strided:
    case CopyLayout::strided_3d:
      return std::make_unique<StridedBaseline>(shape, direction, cuda_stream);
    case CopyLayout::transposed: break;
    default: return make_batch_baseline(shape, direction, stream);
  }
  return std::make_unique<TransposedBaseline>(shape, direction, cuda_stream);
}

}  // namespace KokkosHostSpaces::Perf
