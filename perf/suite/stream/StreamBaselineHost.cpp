// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "StreamBaseline.hpp"

#include "../../plain/LoopsHost.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

void stencil(StreamShape const& shape, double* a, double const* b) {
  std::int64_t const plane = shape.plane(), row = shape.columns;
  for_each_index(std::size_t(shape.planes * shape.rows), [=](std::size_t line) {
    std::int64_t const i = std::int64_t(line) / shape.rows, j = std::int64_t(line) % shape.rows;
    bool const face = i == 0 || i == shape.planes - 1 || j == 0 || j == shape.rows - 1;
    for (std::int64_t k = 0; k < row; ++k) {
      double const* const u = b + (i * plane + j * row + k);
      a[i * plane + j * row + k] =
          face || k == 0 || k == row - 1
              ? u[0]
              : 0.125 * (2 * u[0] + u[-plane] + u[plane] + u[-row] + u[row] + u[-1] + u[1]);
    }
  });
}

double dot(std::int64_t n, double const* b, double const* c) {
  double sum = 0;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) reduction(+ : sum)
#endif
  for (std::int64_t i = 0; i < n; ++i) sum += b[i] * c[i];
  return sum;
}

class HostStreamBaseline final : public StreamBaseline {
 public:
  explicit HostStreamBaseline(StreamLoop const& loop) : m_loop(loop) {}

  std::vector<std::string> variants() const override { return {"a loop"}; }

  double run() override {
    auto const [a, b, c]    = m_loop.arrays;
    std::size_t const count = std::size_t(m_loop.shape.elements());
    switch (m_loop.operation) {
      case StreamOperation::triad:
        for_each_index(count, [a, b, c](std::size_t i) { a[i] = b[i] + 3 * c[i]; });
        return 0;
      case StreamOperation::update:
        for_each_index(count, [a](std::size_t i) { a[i] = 7 - a[i]; });
        return 0;
      case StreamOperation::stencil: stencil(m_loop.shape, a, b); return 0;
      case StreamOperation::dot: break;
    }
    return dot(std::int64_t(count), b, c);
  }

 private:
  StreamLoop m_loop;
};

}  // namespace

std::unique_ptr<StreamBaseline> make_stream_baseline(StreamWay, StreamLoop const& loop) {
  return std::make_unique<HostStreamBaseline>(loop);
}

}  // namespace KokkosHostSpaces::Perf
