// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CopyTwin.hpp"

#include "../../plain/PlainBuffer.hpp"
#include "../../plain/CheckCuda.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {
namespace {

struct Ends {
  double* dst;
  double const* src;
};

// A list that fits among the arguments of a kernel, which need not be read over the link.
constexpr std::size_t few_pieces = 64;
struct FewEnds {
  Ends ends[few_pieces];
};

constexpr unsigned gather_threads = 256, gather_loads = 4;
constexpr std::size_t part_bytes = 8192;

// A part of a piece by 16 bytes a thread, several of them on their way at once.
__device__ void copy_part(Ends const& ends, unsigned words, unsigned part, unsigned parts) {
  auto* const to         = reinterpret_cast<uint4*>(ends.dst);
  auto const* const from = reinterpret_cast<uint4 const*>(ends.src);
  unsigned const step    = parts * blockDim.x;
  for (unsigned i = part * blockDim.x + threadIdx.x; i < words; i += gather_loads * step) {
    uint4 loaded[gather_loads];
    for (unsigned k = 0; k < gather_loads; ++k)
      if (i + k * step < words) loaded[k] = from[i + k * step];
    for (unsigned k = 0; k < gather_loads; ++k)
      if (i + k * step < words) to[i + k * step] = loaded[k];
  }
}

__global__ void gather(Ends const* list, unsigned words, unsigned parts) {
  copy_part(list[blockIdx.x / parts], words, blockIdx.x % parts, parts);
}

__global__ void gather_few(FewEnds const __grid_constant__ list, unsigned words, unsigned parts) {
  copy_part(list.ends[blockIdx.x / parts], words, blockIdx.x % parts, parts);
}

// Many pieces: one by one, by one call, by a kernel, and neighbours as the one copy that they are.
class BatchTwinCuda final : public CopyTwin {
 public:
  BatchTwinCuda(CopyShape const& shape, CopyDirection direction, cudaStream_t stream)
      : m_shape(shape),
        m_to_host(direction == CopyDirection::to_host),
        m_stream(stream),
        m_dsts(shape.rows),
        m_srcs(shape.rows),
        m_bytes(shape.rows, shape.columns * sizeof(double)),
        m_lists(make_plain_buffer(PlainKind::pinned, lists * shape.rows * sizeof(Ends))) {}

  std::vector<std::string> variants() const override {
    std::vector<std::string> all{"cudaMemcpyAsync for each"};
    if (m_shape.twin == BatchTwin::single) return all;
#if CUDART_VERSION >= 12080
    all.emplace_back("cudaMemcpyBatchAsync");
#endif
    all.emplace_back("a kernel through the mapped address");
    if (m_shape.layout == CopyLayout::neighbours) all.emplace_back("cudaMemcpyAsync for all");
    return all;
  }
  void choose(int variant) override { m_variant = variants()[std::size_t(variant)]; }

  void enqueue(double* destination, double const* source) override {
    if (m_variant == "cudaMemcpyAsync for all") return copy(destination, source, m_shape.rows);
    for (std::size_t row = 0; row < m_shape.rows; ++row) {
      std::size_t const dense = row * m_shape.columns, host = place(row);
      m_dsts[row] = destination + (m_to_host ? host : dense);
      m_srcs[row] = const_cast<double*>(source) + (m_to_host ? dense : host);
    }
    if (m_variant == "cudaMemcpyBatchAsync") return copy_at_once();
    if (m_variant == "a kernel through the mapped address") return copy_by_kernel();
    for (std::size_t row = 0; row < m_shape.rows; ++row) copy(m_dsts[row], m_srcs[row], 1);
  }

 private:
  std::size_t place(std::size_t row) const {
    return m_shape.layout == CopyLayout::scattered ? scattered_row(row) * 2 * m_shape.columns
                                                   : row * m_shape.columns;
  }

  void copy(void* destination, void const* source, std::size_t rows) {
    check(cudaMemcpyAsync(destination, source, rows * m_bytes[0], cudaMemcpyDefault, m_stream),
          "cudaMemcpyAsync");
  }

  void copy_by_kernel() {
    auto const words       = unsigned(m_bytes[0] / sizeof(uint4));
    auto const parts       = unsigned((m_bytes[0] + part_bytes - 1) / part_bytes),
               blocks      = unsigned(m_shape.rows) * parts;
    unsigned const threads = std::clamp(words, 32u, gather_threads);
    auto const fill        = [&](Ends* list) {
      for (std::size_t row = 0; row < m_shape.rows; ++row)
        list[row] = {static_cast<double*>(m_dsts[row]), static_cast<double const*>(m_srcs[row])};
    };
    if (m_shape.rows <= few_pieces) {
      FewEnds list;
      fill(list.ends);
      gather_few<<<blocks, threads, 0, m_stream>>>(list, words, parts);
    } else {
      Ends* const list = static_cast<Ends*>(m_lists.get()) + m_next++ % lists * m_shape.rows;
      fill(list);
      gather<<<blocks, threads, 0, m_stream>>>(list, words, parts);
    }
    check(cudaGetLastError(), "kernel launch");
  }

  void copy_at_once() {
#if CUDART_VERSION >= 12080
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder       = cudaMemcpySrcAccessOrderStream;
    std::size_t first               = 0;
#if CUDART_VERSION >= 13000
    check(cudaMemcpyBatchAsync(m_dsts.data(), m_srcs.data(), m_bytes.data(), m_bytes.size(),
                               &attributes, &first, 1, m_stream),
          "cudaMemcpyBatchAsync");
#else
    std::size_t failed = 0;
    check(cudaMemcpyBatchAsync(m_dsts.data(), m_srcs.data(), m_bytes.data(), m_bytes.size(),
                               &attributes, &first, 1, &failed, m_stream),
          "cudaMemcpyBatchAsync");
#endif
#endif
  }

  CopyShape m_shape;
  bool m_to_host;
  cudaStream_t m_stream;
  std::string m_variant = "cudaMemcpyAsync for each";
  std::vector<void*> m_dsts, m_srcs;
  std::vector<std::size_t> m_bytes;

  // More than the copies of a sample, which all wait in the stream.
  static constexpr std::size_t lists = 64;
  PlainBuffer m_lists;
  std::size_t m_next = 0;
};

}  // namespace

std::unique_ptr<CopyTwin> make_batch_twin(CopyShape const& shape, CopyDirection direction,
                                          Stream stream) {
  return std::make_unique<BatchTwinCuda>(shape, direction, static_cast<cudaStream_t>(stream));
}

}  // namespace KokkosHostSpaces::Perf
