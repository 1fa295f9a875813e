// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "TouchBaseline.hpp"

#include "../../plain/CheckCuda.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

constexpr unsigned warp = 32;

// A warp reads a run.
template <bool Packs>
__global__ void add_runs(double const* array, double* sums, TouchedRuns runs) {
  std::uint64_t const run = (std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp;
  if (run >= runs.touched) return;
  unsigned const lane        = threadIdx.x % warp;
  double const* const values = array + run_elements * (run * runs.all / runs.touched + runs.shift);
  double sum;
  if constexpr (Packs) {
    double2 const pack = reinterpret_cast<double2 const*>(values)[lane];
    sum                = pack.x + pack.y;
  } else {
    sum = values[lane] + values[warp + lane];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (lane == 0) sums[run] += sum;
}

class CudaTouchBaseline final : public TouchBaseline {
 public:
  explicit CudaTouchBaseline(cudaStream_t stream) : m_stream(stream) {}

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (int threads : {128, 256, 512, 1024})
      for (char const* access : {"scalar", "16-byte"})
        names.push_back("block " + std::to_string(threads) + ", " + access + " access");
    return names;
  }
  void choose(int variant) override { m_variant = unsigned(variant); }

  void read(double const* array, double* sums, TouchedRuns const& runs) override {
    unsigned const threads = 128u << m_variant / 2;
    unsigned const blocks  = unsigned((runs.touched * warp + threads - 1) / threads);
    auto const kernel      = m_variant % 2 == 1 ? add_runs<true> : add_runs<false>;
    kernel<<<blocks, threads, 0, m_stream>>>(array, sums, runs);
    check_launch();
  }

  void copy(void* destination, void const* source, std::size_t bytes) override {
    copy_async(destination, source, bytes, m_stream);
  }

 private:
  cudaStream_t m_stream;
  unsigned m_variant = 0;
};

}  // namespace

std::unique_ptr<TouchBaseline> make_touch_baseline(Stream stream) {
  return std::make_unique<CudaTouchBaseline>(static_cast<cudaStream_t>(stream));
}

}  // namespace KokkosHostSpaces::Perf
