// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CopyTwin.hpp"

#include "../../plain/CheckCuda.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

// Many pieces: one by one, by one call, and neighbours as the one copy that they are.
class BatchTwinCuda final : public CopyTwin {
 public:
  BatchTwinCuda(CopyShape const& shape, CopyDirection direction, cudaStream_t stream)
      : m_shape(shape),
        m_to_host(direction == CopyDirection::to_host),
        m_stream(stream),
        m_dsts(shape.rows),
        m_srcs(shape.rows),
        m_bytes(shape.rows, shape.columns * sizeof(double)) {}

  std::vector<std::string> variants() const override {
    std::vector<std::string> all{"cudaMemcpyAsync for each"};
    if (m_shape.twin == BatchTwin::single) return all;
#if CUDART_VERSION >= 12080
    all.emplace_back("cudaMemcpyBatchAsync");
#endif
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
};

}  // namespace

std::unique_ptr<CopyTwin> make_batch_twin(CopyShape const& shape, CopyDirection direction,
                                          Stream stream) {
  return std::make_unique<BatchTwinCuda>(shape, direction, static_cast<cudaStream_t>(stream));
}

}  // namespace KokkosHostSpaces::Perf
