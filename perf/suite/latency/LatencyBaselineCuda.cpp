// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "LatencyBaseline.hpp"

#include "../../plain/CheckCuda.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

template <class Kernel>
__global__ void run(Kernel kernel) {
  kernel(0);
}

class CudaSteps final : public StepsBy<CudaSteps> {
 public:
  explicit CudaSteps(cudaStream_t stream) : m_stream(stream) {}

  template <class Kernel>
  void enqueue(Kernel const& kernel) {
    run<<<1, 1, 0, m_stream>>>(kernel);
    check_launch();
  }

  void copy(double* destination, double const* source) override {
    copy_async(destination, source, sizeof(double), m_stream);
  }

  void fence() override { synchronize(m_stream); }

 private:
  cudaStream_t m_stream;
};

}  // namespace

std::unique_ptr<Steps> make_plain_steps(Stream stream) {
  return std::make_unique<CudaSteps>(static_cast<cudaStream_t>(stream));
}

}  // namespace KokkosHostSpaces::Perf
