// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "VectorBaseline.hpp"

#include "../../plain/PlainBuffer.hpp"
#include "../../plain/CheckCuda.hpp"
#include "VectorKernelsCuda.hpp"

#include <algorithm>
#include <functional>

namespace KokkosHostSpaces::Perf {
namespace {

enum class Way { by_index, last_block_adds, one_block_takes, atomic, cub };

struct Variant {
  Way way;
  unsigned threads, most_blocks;
  bool packs;  // loads 16 bytes at a time
};

constexpr unsigned any_blocks = ~0U, most_parts = 1056;

// Grids of sums: for each number of elements the best one of 8 to 1056 blocks on an H200.
struct Grid {
  unsigned blocks, threads;
};
constexpr Grid grids[] = {{4, 128},   {8, 256},   {32, 256},   {66, 256},
                          {132, 512}, {264, 512}, {264, 1024}, {1056, 256}};

// Numbers of blocks beside the one that adds their parts.
constexpr Grid grids_of_takers[] = {{8, 256},   {33, 128},  {66, 128},  {66, 256},  {32, 512},
                                    {132, 256}, {64, 1024}, {132, 512}, {264, 512}, {264, 1024}};

std::vector<Variant> variants_of(VectorOperation op) {
  std::vector<Variant> variants;
  if (is_sum(op)) {
    for (unsigned threads : {512u, 1024u})
      variants.push_back({Way::last_block_adds, threads, 1, true});
    for (auto [blocks, threads] : grids)
      for (Way way : {Way::last_block_adds, Way::atomic})
        variants.push_back({way, threads, blocks, true});
    variants.push_back({Way::last_block_adds, 256, 1056, false});
    for (auto [blocks, threads] : grids_of_takers)
      variants.push_back({Way::one_block_takes, threads, blocks, true});
  } else {
    for (unsigned threads : {128u, 256u, 512u, 1024u})
      for (bool packs : {false, true})
        variants.push_back({Way::by_index, threads, any_blocks, packs});
  }
  return variants;
}

bool competes(Variant const& variant, Rivals rivals) {
  if (rivals == Rivals::cub) return variant.way == Way::cub;
  return rivals == Rivals::all || variant.way == Way::last_block_adds ||
         variant.way == Way::one_block_takes;
}

std::string name(Variant const& variant) {
  if (variant.way == Way::cub) return "CUB";
  std::string const blocks =
      variant.most_blocks == any_blocks ? "" : std::to_string(variant.most_blocks) + " x ";
  return "block " + blocks + std::to_string(variant.threads) +
         (variant.packs ? ", 16-byte loads" : ", scalar loads") +
         (variant.way == Way::atomic ? ", atomic" : "") +
         (variant.way == Way::one_block_takes ? ", one takes" : "");
}

unsigned blocks_for(unsigned items, unsigned threads) { return (items + threads - 1) / threads; }

template <VectorOperation Op, class T>
class CudaVectorBaseline final : public VectorBaseline {
 public:
  CudaVectorBaseline(std::vector<VectorArguments<T>> runs, std::size_t elements, Rivals rivals,
                     Stream stream)
      : m_runs(std::move(runs)),
        m_elements(elements),
        m_stream(static_cast<cudaStream_t>(stream)),
        m_parts(make_plain_buffer(PlainKind::device, most_parts * sizeof(T))),
        m_done(make_plain_buffer(PlainKind::device, sizeof(unsigned))),
        m_marked(make_plain_buffer(PlainKind::device, most_parts * sizeof(MarkedPart))),
        m_cub(make_cub_kernels<T>(Op, m_elements, stream)) {
    check(cudaMemset(m_done.get(), 0, sizeof(unsigned)), "cudaMemset");
    check(cudaMemset(m_marked.get(), 0, most_parts * sizeof(MarkedPart)), "cudaMemset");
    if (m_cub) m_variants.push_back({Way::cub, 0, 0, false});
    std::erase_if(m_variants, [&](Variant const& one) { return !competes(one, rivals); });
    choose(0);
  }

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (Variant const& variant : m_variants) names.push_back(name(variant));
    return names;
  }

  void choose(int variant) override { m_variant = m_variants[std::size_t(variant)]; }

  void enqueue() override {
    for (VectorArguments<T> const& run : m_runs) launch(run);
  }

 private:
  void launch(VectorArguments<T> const& run) {
    if (m_variant.way == Way::cub)
      m_cub(run);
    else if (m_variant.packs)
      launch_packs<16 / sizeof(T)>(run);
    else
      launch_packs<1>(run);
    check_launch();
  }

  template <int N>
  void launch_packs(VectorArguments<T> const& run) {
    unsigned const threads = m_variant.threads, packs = unsigned(m_elements / N);
    unsigned blocks = blocks_for(packs, threads);
    if constexpr (is_sum(Op)) {
      blocks = std::min(blocks, m_variant.most_blocks);
      if (m_variant.way == Way::atomic) {
        check(cudaMemsetAsync(run.sum, 0, sizeof(T), m_stream), "cudaMemsetAsync");
        add_atomically<Op, T, N><<<blocks, threads, 0, m_stream>>>(run, packs);
      } else if (m_variant.way == Way::one_block_takes) {
        one_block_takes<Op, T, N><<<blocks + 1, threads, 0, m_stream>>>(
            run, packs, static_cast<MarkedPart*>(m_marked.get()));
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
  cudaStream_t m_stream;
  PlainBuffer m_parts, m_done, m_marked;
  std::function<void(VectorArguments<T> const&)> m_cub;
  std::vector<Variant> m_variants = variants_of(Op);
  Variant m_variant               = {};
};

}  // namespace

template <class T>
std::unique_ptr<VectorBaseline> make_vector_baseline(VectorOperation op,
                                                     std::vector<VectorArguments<T>> runs,
                                                     std::size_t n, Rivals rivals, Stream stream) {
  return with_operation(op, [&](auto constant) -> std::unique_ptr<VectorBaseline> {
    return std::make_unique<CudaVectorBaseline<decltype(constant)::value, T>>(std::move(runs), n,
                                                                              rivals, stream);
  });
}

template std::unique_ptr<VectorBaseline> make_vector_baseline<float>(
    VectorOperation, std::vector<VectorArguments<float>>, std::size_t, Rivals, Stream);
template std::unique_ptr<VectorBaseline> make_vector_baseline<double>(
    VectorOperation, std::vector<VectorArguments<double>>, std::size_t, Rivals, Stream);

}  // namespace KokkosHostSpaces::Perf
