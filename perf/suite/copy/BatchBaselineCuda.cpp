// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CopyBaseline.hpp"

#include "../../plain/PlainBuffer.hpp"
#include "../../plain/CheckCuda.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {
namespace {

struct Ends {
  double* dst;
  double const* src;
};

// A list that fits into the arguments of a kernel, so that it is not read over the link.
constexpr std::size_t few_pieces = 64;
struct FewEnds {
  Ends ends[few_pieces];
};

constexpr unsigned gather_threads = 256, gather_loads = 4;
constexpr std::size_t part_bytes = 8192;

// Copy a part of a piece, 16 bytes a load, several loads of a thread in flight.
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

// Copy several short pieces with each block; the list is in device memory.
__global__ void gather_packed(Ends const* list, unsigned words, unsigned all) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= all) return;
  Ends const ends = list[i / words];
  reinterpret_cast<uint4*>(ends.dst)[i % words] =
      reinterpret_cast<uint4 const*>(ends.src)[i % words];
}

// Copies many pieces: one by one, by one call, by a kernel, adjacent ones by a single copy.
class BatchBaselineCuda final : public CopyBaseline {
 public:
  BatchBaselineCuda(CopyShape const& shape, CopyDirection direction, cudaStream_t stream)
      : m_shape(shape),
        m_to_host(direction == CopyDirection::to_host),
        m_stream(stream),
        m_lists(make_plain_buffer(PlainKind::pinned, lists * shape.rows * sizeof(Ends))) {}

  // Make the list of pieces outside of the timing, as our side makes its Views.
  void prepare(double* destination, double const* source) override {
    Batch made{find_pieces(destination, source)};
    if (m_shape.prepared) {
      std::size_t const bytes = m_shape.rows * sizeof(Ends);
      auto* const list        = static_cast<Ends*>(m_lists.get());
      fill(made.pieces, list);
      if (is_short()) fill(made.pieces, made.few.ends);
      made.list = make_plain_buffer(PlainKind::device, bytes);
      check(cudaMemcpy(made.list.get(), list, bytes, cudaMemcpyDefault), "cudaMemcpy");
      make_graph(made);
    }
    m_batches.insert_or_assign(destination, std::move(made));
  }

  std::vector<std::string> variants() const override {
    std::vector<std::string> all{"cudaMemcpyAsync for each"};
    if (m_shape.baseline == BatchBaseline::single) return all;
#if CUDART_VERSION >= 12080
    all.emplace_back("cudaMemcpyBatchAsync");
#endif
    all.emplace_back("a kernel through the mapped address");
    if (words() <= gather_threads) all.emplace_back("a kernel for several pieces a block");
    if (m_shape.prepared) all.emplace_back("a graph of a kernel");
    if (m_shape.layout == CopyLayout::neighbours) all.emplace_back("cudaMemcpyAsync for all");
    return all;
  }
  void choose(int variant) override { m_variant = variants()[std::size_t(variant)]; }

  void enqueue(double* destination, double const* source) override {
    if (m_variant == "cudaMemcpyAsync for all") return copy(destination, source, m_shape.rows);
    Batch& batch = m_batches.at(destination);
    if (m_variant == "cudaMemcpyBatchAsync") return copy_at_once(batch.pieces);
    if (m_variant == "a kernel for several pieces a block")
      return copy_packed(m_shape.prepared ? batch.ends() : new_list(batch.pieces));
    if (m_variant == "a kernel through the mapped address") return copy_by_kernel(batch);
    if (m_variant == "a graph of a kernel")
      return check(cudaGraphLaunch(batch.graph.get(), m_stream), "cudaGraphLaunch");
    for (std::size_t row = 0; row < m_shape.rows; ++row)
      copy(batch.pieces.dsts[row], batch.pieces.srcs[row], 1);
  }

 private:
  struct Pieces {
    std::vector<void*> dsts, srcs;
    std::vector<std::size_t> bytes;
  };
  struct Batch {
    Pieces pieces;
    // If prepared:
    FewEnds few      = {};  ///< if there are at most few_pieces
    PlainBuffer list = {nullptr, [](void*) {}};
    std::unique_ptr<CUgraphExec_st, cudaError_t (*)(cudaGraphExec_t)> graph = {
        nullptr, cudaGraphExecDestroy};
    Ends const* ends() const { return static_cast<Ends const*>(list.get()); }
  };

  Pieces find_pieces(double* destination, double const* source) const {
    Pieces pieces;
    pieces.bytes.assign(m_shape.rows, bytes());
    for (std::size_t row = 0; row < m_shape.rows; ++row) {
      std::size_t const dense = row * m_shape.columns, host = place(row);
      pieces.dsts.push_back(destination + (m_to_host ? host : dense));
      pieces.srcs.push_back(const_cast<double*>(source) + (m_to_host ? dense : host));
    }
    return pieces;
  }

  std::size_t place(std::size_t row) const {
    return row_on_host(m_shape.layout, row) * m_shape.columns;
  }

  void copy(void* destination, void const* source, std::size_t rows) {
    copy_async(destination, source, rows * bytes(), m_stream);
  }

  bool is_short() const { return m_shape.rows <= few_pieces; }
  std::size_t bytes() const { return m_shape.columns * sizeof(double); }
  unsigned words() const { return unsigned(bytes() / sizeof(uint4)); }
  unsigned parts() const { return unsigned((bytes() + part_bytes - 1) / part_bytes); }
  unsigned blocks() const { return unsigned(m_shape.rows) * parts(); }
  unsigned threads() const { return std::clamp(words(), 32u, gather_threads); }

  // The kernels assume pieces of equal length; check it, as any program must.
  void fill(Pieces const& pieces, Ends* list) const {
    std::size_t differ = 0;
    for (std::size_t row = 0; row < m_shape.rows; ++row) {
      list[row] = {static_cast<double*>(pieces.dsts[row]),
                   static_cast<double const*>(pieces.srcs[row])};
      differ |= pieces.bytes[row] ^ bytes();
    }
    if (differ != 0) throw std::logic_error("pieces of one length alone");
  }

  // Launch the kernel before the capture, since loading it may wait.
  void make_graph(Batch& prepared) {
    auto const launch = [&] {
      if (words() <= gather_threads)
        copy_packed(prepared.ends());
      else
        copy_by_kernel(prepared);
    };
    launch();
    check(cudaStreamBeginCapture(m_stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    launch();
    cudaGraph_t graph    = nullptr;
    cudaGraphExec_t made = nullptr;
    check(cudaStreamEndCapture(m_stream, &graph), "cudaStreamEndCapture");
    cudaError_t const error = cudaGraphInstantiate(&made, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "cudaGraphInstantiate");
    prepared.graph.reset(made);
  }

  Ends const* new_list(Pieces const& pieces) {
    Ends* const list = static_cast<Ends*>(m_lists.get()) + m_next++ % lists * m_shape.rows;
    fill(pieces, list);
    return list;
  }

  void copy_by_kernel(Batch const& batch) {
    if (!is_short()) {
      Ends const* const list = m_shape.prepared ? batch.ends() : new_list(batch.pieces);
      gather<<<blocks(), threads(), 0, m_stream>>>(list, words(), parts());
    } else if (m_shape.prepared) {
      gather_few<<<blocks(), threads(), 0, m_stream>>>(batch.few, words(), parts());
    } else {
      FewEnds list;
      fill(batch.pieces, list.ends);
      gather_few<<<blocks(), threads(), 0, m_stream>>>(list, words(), parts());
    }
    check_launch();
  }

  void copy_packed(Ends const* list) {
    unsigned const all = unsigned(m_shape.rows) * words();
    gather_packed<<<(all + gather_threads - 1) / gather_threads, gather_threads, 0, m_stream>>>(
        list, words(), all);
    check_launch();
  }

  void copy_at_once([[maybe_unused]] Pieces& pieces) {
#if CUDART_VERSION >= 12080
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder       = cudaMemcpySrcAccessOrderStream;
    std::size_t first               = 0;
#if CUDART_VERSION >= 13000
    check(cudaMemcpyBatchAsync(pieces.dsts.data(), pieces.srcs.data(), pieces.bytes.data(),
                               pieces.bytes.size(), &attributes, &first, 1, m_stream),
          "cudaMemcpyBatchAsync");
#else
    std::size_t failed = 0;
    check(cudaMemcpyBatchAsync(pieces.dsts.data(), pieces.srcs.data(), pieces.bytes.data(),
                               pieces.bytes.size(), &attributes, &first, 1, &failed, m_stream),
          "cudaMemcpyBatchAsync");
#endif
#endif
  }

  CopyShape m_shape;
  bool m_to_host;
  cudaStream_t m_stream;
  std::string m_variant = "cudaMemcpyAsync for each";

  // Lists in rotation: more than the copies of a sample, which are all queued.
  static constexpr std::size_t lists = 64;
  PlainBuffer m_lists;
  std::size_t m_next = 0;
  std::map<double*, Batch> m_batches;  ///< by destination
};

}  // namespace

std::unique_ptr<CopyBaseline> make_batch_baseline(CopyShape const& shape, CopyDirection direction,
                                                  Stream stream) {
  return std::make_unique<BatchBaselineCuda>(shape, direction, static_cast<cudaStream_t>(stream));
}

}  // namespace KokkosHostSpaces::Perf
