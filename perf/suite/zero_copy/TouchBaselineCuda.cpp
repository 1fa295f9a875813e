// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "TouchBaseline.hpp"

#include "../../plain/CheckCuda.hpp"

#include <cuda_runtime.h>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr unsigned warp = 32;

// The run of this warp; false if there are more warps than runs.
__device__ bool my_run(TouchedRuns const& runs, std::uint64_t& run, std::uint64_t& first) {
  run   = (std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp;
  first = run_elements * (run * runs.all / runs.touched + runs.shift);
  return run < runs.touched;
}

template <bool Packs>
__global__ void add_runs(double const* array, double* sums, TouchedRuns runs) {
  std::uint64_t run, first;
  if (!my_run(runs, run, first)) return;
  unsigned const lane = threadIdx.x % warp;
  double sum;
  if constexpr (Packs) {
    double2 const pack = reinterpret_cast<double2 const*>(array + first)[lane];
    sum                = pack.x + pack.y;
  } else {
    sum = array[first + lane] + array[first + warp + lane];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (lane == 0) sums[run] += sum;
}

template <bool Packs>
__global__ void write_runs(double* array, double value, TouchedRuns runs) {
  std::uint64_t run, first;
  if (!my_run(runs, run, first)) return;
  unsigned const lane = threadIdx.x % warp;
  if constexpr (Packs) {
    double const e                                  = double(first + 2 * lane);
    reinterpret_cast<double2*>(array + first)[lane] = {value + e, value + (e + 1)};
  } else {
    for (std::uint64_t e = first + lane; e < first + run_elements; e += warp)
      array[e] = value + double(e);
  }
}

struct Variant {
  unsigned threads;
  bool packs;
};

class CudaTouchBaseline final : public TouchBaseline {
 public:
  CudaTouchBaseline(bool packs, cudaStream_t stream) : m_stream(stream) {
    for (unsigned threads : {128u, 256u, 512u, 1024u}) {
      m_variants.push_back({threads, false});
      if (packs) m_variants.push_back({threads, true});
    }
    choose(0);
  }

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (Variant const& variant : m_variants)
      names.push_back("block " + std::to_string(variant.threads) +
                      (variant.packs ? ", 16-byte access" : ", scalar access"));
    return names;
  }
  void choose(int variant) override { m_variant = m_variants[std::size_t(variant)]; }

  void read(double const* array, double* sums, TouchedRuns const& runs) override {
    auto const kernel = m_variant.packs ? add_runs<true> : add_runs<false>;
    kernel<<<blocks(runs), m_variant.threads, 0, m_stream>>>(array, sums, runs);
    check(cudaGetLastError(), "kernel launch");
  }

  void write(double* array, double value, TouchedRuns const& runs) override {
    auto const kernel = m_variant.packs ? write_runs<true> : write_runs<false>;
    kernel<<<blocks(runs), m_variant.threads, 0, m_stream>>>(array, value, runs);
    check(cudaGetLastError(), "kernel launch");
  }

  void copy(void* destination, void const* source, std::size_t bytes) override {
    check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, m_stream),
          "cudaMemcpyAsync");
  }

 private:
  unsigned blocks(TouchedRuns const& runs) const {
    return unsigned((runs.touched * warp + m_variant.threads - 1) / m_variant.threads);
  }

  cudaStream_t m_stream;
  std::vector<Variant> m_variants;
  Variant m_variant;
};

}  // namespace

std::unique_ptr<TouchBaseline> make_touch_baseline(bool packs, Stream stream) {
  return std::make_unique<CudaTouchBaseline>(packs, static_cast<cudaStream_t>(stream));
}

}  // namespace KokkosHostSpaces::Perf
