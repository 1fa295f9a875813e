// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace KokkosHostSpaces::Perf {

/// triad: a = b + 3 c. dot: the sum of b c, of all elements or of some runs. update: a = 7 - a.
/// stencil: a = (2 b + the six neighbours of b) / 8 inside a cube, a = b on its faces.
enum class StreamOperation { triad, dot, update, stencil };

/// A cube of doubles that is cut along its slowest index; vectors have planes of one element.
struct StreamShape {
  std::int64_t planes, rows = 1, columns = 1;
  std::int64_t plane() const { return rows * columns; }
  std::int64_t elements() const { return planes * plane(); }
};

/// Page-locked.
struct StreamArrays {
  double *a, *b, *c;
};

/// Elements of a run, 512 bytes.
inline constexpr int stream_run = 64;

struct StreamLoop {
  StreamOperation operation;
  StreamShape shape;
  StreamArrays arrays;
  int every = 1;  ///< of a dot by the library: each so many runs one is touched
};

/// A loop over data in host memory, from there to there.
class StreamBaseline : public Baseline {
 public:
  /// Brings the data to where run expects it; not timed.
  virtual void prepare() {}

  /// The loop; returns when all is done. What is timed. Returns the sum of a dot.
  virtual double run() = 0;

  /// Brings the result into the host's array, if run leaves it elsewhere; not timed.
  virtual void collect() {}

  /// Of what computes nothing, and so has no result: how much is not where run had to bring it.
  virtual std::optional<std::int64_t> count_missing() const { return std::nullopt; }
};

enum class StreamWay {
  pipeline,  ///< by hand: three buffers for each array, copies in and out overlap with kernels
  serial,    ///< chunk by chunk: copy, kernel, copy
  in_place,  ///< a kernel on the host's memory
  resident,  ///< a kernel on data that is on the device
  managed,   ///< managed memory that is prefetched in chunks
  link,      ///< its bytes are copied, and nothing is computed: of a triad two parts to the device
             ///< and one back at once
  all_links  ///< the same by all devices at once, of which each has a part
};

/// \throw std::exception if there is not enough memory
std::unique_ptr<StreamBaseline> make_stream_baseline(StreamWay way, StreamLoop const& loop);

}  // namespace KokkosHostSpaces::Perf

#endif
