// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The loops by the library.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAMED_LOOPS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAMED_LOOPS_HPP

#include "../../plain/Platform.hpp"
#include "../../plain/Stopwatch.hpp"
#include "../Instance.hpp"
#include "StreamBaseline.hpp"

#include <KokkosHostSpaces/StreamedChain.hpp>
#include <KokkosHostSpaces/StreamedFor.hpp>
#include <KokkosHostSpaces/StreamedReduce.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {

using LoopOptions = StreamOptions<Execution>;

/// A stream for each device, and an instance on each stream.
class DeviceStreams {
 public:
  explicit DeviceStreams(std::vector<int> const& devices) {
    int const here = current_device();
    for (int device : devices) {
      use_device(device);
      m_stopwatches.push_back(std::make_unique<Stopwatch>());
      m_instances.push_back(make_instance(m_stopwatches.back()->stream()));
    }
    use_device(here);
  }
  std::vector<Execution> const& instances() const { return m_instances; }

 private:
  std::vector<std::unique_ptr<Stopwatch>> m_stopwatches;  // own the streams
  std::vector<Execution> m_instances;
};

struct TriadBody {
  KOKKOS_FUNCTION void operator()(std::int64_t i, Chunk<double const*> b, Chunk<double const*> c,
                                  Chunk<double*> a) const {
    a(i) = b(i) + 3 * c(i);
  }
};

struct DotBody {
  KOKKOS_FUNCTION void operator()(std::int64_t i, Chunk<double const*> b, Chunk<double const*> c,
                                  double& sum) const {
    sum += b(i) * c(i);
  }
};

/// Sums each every-th run of elements.
struct SparseDotBody {
  int every;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Chunk<double const*> b, Chunk<double const*> c,
                                  double& sum) const {
    if (i / stream_run % every == 0) sum += b(i) * c(i);
  }
};

struct UpdateBody {
  KOKKOS_FUNCTION void operator()(std::int64_t i, Chunk<double*> a) const { a(i) = 7 - a(i); }
};

struct StencilBody {
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  Chunk<double const***> u, Chunk<double***> v) const {
    v(i, j, k) = 0.125 * (2 * u(i, j, k) + u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) +
                          u(i, j + 1, k) + u(i, j, k - 1) + u(i, j, k + 1));
  }
};

template <class DataType, class Space>
using StreamView =
    Kokkos::View<DataType, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Runs a triad, dot or update on Views in `Space`.
template <class Space>
double run_streamed(StreamLoop const& loop, LoopOptions const& options) {
  std::int64_t const n = loop.shape.elements();
  auto const vector    = [n](double* array) {
    return StreamView<double*, Space>(array, std::size_t(n));
  };
  auto const a = vector(loop.arrays.a), b = vector(loop.arrays.b), c = vector(loop.arrays.c);
  double sum = 0;
  switch (loop.operation) {
    case StreamOperation::triad:
      streamed_for("triad", options, n, TriadBody(), read(b), read(c), write(a)).fence();
      break;
    case StreamOperation::update:
      streamed_for("update", options, n, UpdateBody(), update(a)).fence();
      break;
    case StreamOperation::dot: {
      Kokkos::Sum<double> const result(sum);
      double const part = 1. / loop.every;
      if (loop.every == 1)
        streamed_reduce("dot", options, n, DotBody(), result, read(b), read(c)).fence();
      else
        streamed_reduce("sparse_dot", options, n, SparseDotBody{loop.every}, result,
                        read(b).touching(part), read(c).touching(part))
            .fence();
      break;
    }
    case StreamOperation::stencil: break;
  }
  return sum;
}

/// Runs some steps of the stencil in one pass over the data.
template <class Space>
void run_steps(StreamShape const& shape, double* from, double* to, int count,
               LoopOptions const& options) {
  auto const cube = [&](double* array) {
    return StreamView<double***, Space>(array, std::size_t(shape.planes), std::size_t(shape.rows),
                                        std::size_t(shape.columns));
  };
  Box<3> const inside({1, 1, 1}, {shape.planes - 1, shape.rows - 1, shape.columns - 1});
  streamed_chain("stencil", options, inside,
                 steps(count, StencilBody(), read(cube(from), halo(1)), write(cube(to))))
      .fence();
}

/// Runs one pass a step, alternating between c and a so that the last one writes a.
template <class Space>
void run_passes(StreamLoop const& loop, int count, LoopOptions const& options) {
  double* from = loop.arrays.b;
  for (int left = count; left > 0; --left) {
    double* const to = left % 2 == 1 ? loop.arrays.a : loop.arrays.c;
    run_steps<Space>(loop.shape, from, to, 1, options);
    from = to;
  }
}

/// A baseline that is a loop by Kokkos, too.
class LibraryBaseline final : public ByVariants<StreamBaseline, double(StreamLoop const&)> {
 public:
  LibraryBaseline(Variants variants, StreamLoop const& loop)
      : ByVariants(std::move(variants)), m_loop(loop) {}

  double run() override { return call(m_loop); }

 private:
  StreamLoop m_loop;
};

}  // namespace KokkosHostSpaces::Perf

#endif
