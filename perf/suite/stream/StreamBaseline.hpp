// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace KokkosHostSpaces::Perf {

/// triad: a = b + 3 c. dot: the sum of b c over all elements or over some runs. update: a = 7 - a.
/// stencil: a = (2 b + the six neighbours of b) / 8 inside a cube, a = b on its faces.
enum class StreamOperation { triad, dot, update, stencil };

/// Extents of a cube that is cut along its slowest index; the planes of a vector have one element.
struct StreamShape {
  std::int64_t planes, rows = 1, columns = 1;
  std::int64_t plane() const { return rows * columns; }
  std::int64_t elements() const { return planes * plane(); }
};

/// Arrays in page-locked memory.
struct StreamArrays {
  double *a, *b, *c;
};

/// Elements of a run, 512 bytes.
inline constexpr int stream_run = 64;

struct StreamLoop {
  StreamOperation operation;
  StreamShape shape;
  StreamArrays arrays;
  int every = 1;  ///< a dot by the library touches each every-th run
};

/// A loop whose input and output are in host memory.
class StreamBaseline : public Baseline {
 public:
  /// Prepares the data for run; not timed.
  virtual void prepare() {}

  /// Runs the loop, which is timed, until all is done. \return the sum of a dot
  virtual double run() = 0;

  /// Copies the result to the host's array if run leaves it elsewhere; not timed.
  virtual void collect() {}

  /// Number of wrong pieces, for a baseline of copies, which has no other result.
  virtual std::optional<std::int64_t> count_missing() const { return std::nullopt; }
};

enum class StreamWay {
  pipeline,  ///< by hand: three buffers for each array, copies in and out overlap with kernels
  serial,    ///< chunk by chunk: copy, kernel, copy
  in_place,  ///< a kernel on the host's memory
  resident,  ///< a kernel on data that is on the device
  managed    ///< managed memory that is prefetched in chunks
};

/// \throw std::exception if there is not enough memory
std::unique_ptr<StreamBaseline> make_stream_baseline(StreamWay way, StreamLoop const& loop);

/// Makes a baseline of copies alone: as many bytes in the same directions, over the links of these devices at
/// once. Uses the loop's array `a` as the host's end.
std::unique_ptr<StreamBaseline> make_link_baseline(std::vector<int> const& devices,
                                                   StreamLoop const& loop);

}  // namespace KokkosHostSpaces::Perf

#endif
