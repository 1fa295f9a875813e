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

}  // namespace

std::unique_ptr<TouchBaseline> make_touch_baseline(Stream stream) {
  TouchBaseline::Variants all;
  for (unsigned threads : {128u, 256u, 512u, 1024u})
    for (bool packs : {false, true})
      all.emplace_back(
          "block " + std::to_string(threads) + (packs ? ", 16-byte access" : ", scalar access"),
          [=](double const* array, double* sums, TouchedRuns const& runs) {
            unsigned const blocks = unsigned((runs.touched * warp + threads - 1) / threads);
            auto const kernel     = packs ? add_runs<true> : add_runs<false>;
            kernel<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(array, sums, runs);
            check_launch();
          });
  return std::make_unique<TouchBaseline>(std::move(all));
}

}  // namespace KokkosHostSpaces::Perf
