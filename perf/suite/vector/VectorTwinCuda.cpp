// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "VectorTwin.hpp"

#include "../../plain/PlainBuffer.hpp"
#include "../../plain/CheckCuda.hpp"
#include "VectorKernelsCuda.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr unsigned most_blocks = 4096;

struct Variant {
  unsigned threads;
  bool packs;       // of 16 bytes
  bool atomically;  // of sums only
};

std::vector<Variant> variants_of(VectorOperation op) {
  std::vector<Variant> variants;
  for (unsigned threads : {128u, 256u, 512u, 1024u})
    for (bool packs : {false, true}) {
      variants.push_back({threads, packs, false});
      if (is_sum(op)) variants.push_back({threads, packs, true});
    }
  return variants;
}

std::string name(Variant const& variant) {
  return "block " + std::to_string(variant.threads) +
         (variant.packs ? ", 16-byte loads" : ", scalar loads") +
         (variant.atomically ? ", atomic" : "");
}

unsigned blocks_for(unsigned items, unsigned threads) { return (items + threads - 1) / threads; }

template <VectorOperation Op, class T>
class CudaVectorTwin final : public VectorTwin {
 public:
  CudaVectorTwin(std::vector<VectorArguments<T>> runs, std::size_t elements, bool as_graph,
                 Stream stream)
      : m_runs(std::move(runs)),
        m_elements(elements),
        m_as_graph(as_graph),
        m_stream(static_cast<cudaStream_t>(stream)),
        m_parts(make_plain_buffer(PlainKind::device, most_blocks * sizeof(T))),
        m_done(make_plain_buffer(PlainKind::device, sizeof(unsigned))) {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&m_processors, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    check(cudaMemset(m_done.get(), 0, sizeof(unsigned)), "cudaMemset");
    choose(0);
  }
  ~CudaVectorTwin() override { destroy_graph(); }

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (Variant const& variant : m_variants) names.push_back(name(variant));
    return names;
  }

  void choose(int variant) override {
    m_variant = m_variants[std::size_t(variant)];
    if (m_as_graph) capture();
  }

  void enqueue() override {
    if (m_as_graph)
      check(cudaGraphLaunch(m_graph, m_stream), "cudaGraphLaunch");
    else
      for (VectorArguments<T> const& run : m_runs) launch(run);
  }

 private:
  void capture() {
    destroy_graph();
    m_graph = capture_graph(m_stream, [this] {
      for (VectorArguments<T> const& run : m_runs) launch(run);
    });
  }

  void destroy_graph() {
    if (m_graph != nullptr) (void)cudaGraphExecDestroy(m_graph);
    m_graph = nullptr;
  }

  void launch(VectorArguments<T> const& run) {
    if (m_variant.packs)
      launch_packs<16 / sizeof(T)>(run);
    else
      launch_packs<1>(run);
    check(cudaGetLastError(), "kernel launch");
  }

  template <int N>
  void launch_packs(VectorArguments<T> const& run) {
    unsigned const threads = m_variant.threads, packs = unsigned(m_elements / N);
    unsigned blocks = blocks_for(packs, threads);
    if constexpr (is_sum(Op)) {
      // As many blocks as the device holds at once, half of it for sums that load two packs a turn.
      blocks = std::min(blocks, unsigned(m_processors) * 1024 / threads);
      if (m_variant.atomically) {
        check(cudaMemsetAsync(run.sum, 0, sizeof(T), m_stream), "cudaMemsetAsync");
        add_atomically<Op, T, N><<<blocks, threads, 0, m_stream>>>(run, packs);
      } else {
        last_block_adds<Op, T, N><<<blocks, threads, 0, m_stream>>>(
            run, packs, static_cast<T*>(m_parts.get()), static_cast<unsigned*>(m_done.get()));
      }
    } else {
      map<Op, T, N><<<blocks, threads, 0, m_stream>>>(run, packs);
    }
  }

  std::vector<VectorArguments<T>> m_runs;
  std::size_t m_elements;
  bool m_as_graph;
  cudaStream_t m_stream;
  PlainBuffer m_parts, m_done;
  int m_processors                = 0;
  std::vector<Variant> m_variants = variants_of(Op);
  Variant m_variant               = {};
  cudaGraphExec_t m_graph         = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<VectorTwin> make_vector_twin(VectorOperation op,
                                             std::vector<VectorArguments<T>> runs, std::size_t n,
                                             bool as_graph, Stream stream) {
  using enum VectorOperation;
  switch (op) {
    case copy:
      return std::make_unique<CudaVectorTwin<copy, T>>(std::move(runs), n, as_graph, stream);
    case scale:
      return std::make_unique<CudaVectorTwin<scale, T>>(std::move(runs), n, as_graph, stream);
    case add: return std::make_unique<CudaVectorTwin<add, T>>(std::move(runs), n, as_graph, stream);
    case triad:
      return std::make_unique<CudaVectorTwin<triad, T>>(std::move(runs), n, as_graph, stream);
    case nstream:
      return std::make_unique<CudaVectorTwin<nstream, T>>(std::move(runs), n, as_graph, stream);
    case axpy:
      return std::make_unique<CudaVectorTwin<axpy, T>>(std::move(runs), n, as_graph, stream);
    case dot: return std::make_unique<CudaVectorTwin<dot, T>>(std::move(runs), n, as_graph, stream);
    case norm: break;
  }
  return std::make_unique<CudaVectorTwin<norm, T>>(std::move(runs), n, as_graph, stream);
}

template std::unique_ptr<VectorTwin> make_vector_twin<float>(VectorOperation,
                                                             std::vector<VectorArguments<float>>,
                                                             std::size_t, bool, Stream);
template std::unique_ptr<VectorTwin> make_vector_twin<double>(VectorOperation,
                                                              std::vector<VectorArguments<double>>,
                                                              std::size_t, bool, Stream);

}  // namespace KokkosHostSpaces::Perf
