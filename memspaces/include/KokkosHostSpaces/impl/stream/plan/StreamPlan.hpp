// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The operations of a streamed loop as a list that is made before anything runs: copies, launches,
// and their dependencies. Pure: no device, no memory, no Kokkos, so that tests execute it in any
// order that the dependencies allow.
//
// Arrays are cut into rows. With each chunk a *front* moves on; a stage that reads with a halo lags
// behind the front, and behind the stages whose results it reads, by that halo: all rows that it
// reads are on the device. The rows at the end of a window that the next chunk reads again are
// copied to the head of the next window, on the device; the window of an array that never leaves the
// device slides over its memory, and is copied when it reaches the end. So each row crosses the link once, whatever
// the halos and the number of stages, and a row is loaded before it is stored: loops in place need
// nothing more. StreamTiling.hpp has the equations. (Skewed tiling: M. Wolfe, "More iteration space
// tiling", SC 1989; I. Reguly et al., arXiv 1704.00693.)

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_PLAN_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Converts a number of a buffer, stage or operation to an index of a std::vector.
inline std::size_t at(int number) { return static_cast<std::size_t>(number); }

// --- The loops, without types: StreamShape ---

/// Rows [begin, end).
struct StreamRows {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end > begin ? end - begin : 0; }
};

/// An array of which the device holds windows.
struct StreamBuffer {
  std::string name;
  std::size_t row_bytes = 0;
  std::int64_t rows     = 0;        ///< of the whole array
  char* host            = nullptr;  ///< row 0; nullptr: the array never leaves the device
  bool loaded           = false;    ///< rows are copied from the host to the device
  bool stored           = false;    ///< the rows that a stage writes are copied to the host
  bool fixed            = false;    ///< all of it is on the device: no windows, no copies
  double touched        = 1;        ///< the part of its elements that kernels touch, 0 to 1
  int seed = -1;  ///< the buffer whose rows are copied here, on the device, before a stage writes
};

/// An access of a stage: it reads rows of a buffer as far away as the halo, or writes its own rows.
struct StreamAccess {
  int buffer        = 0;
  std::int64_t halo = 0;
  bool writes       = false;
  bool assigned     = false;  ///< the stage assigns every element of its rows
};

/// A loop over the rows [begin, end). At most one stage writes a buffer, and no earlier stage reads
/// it.
struct StreamStage {
  std::int64_t begin = 0, end = 0;
  std::vector<StreamAccess> accesses;
};

/// Copies of rows that one device loads and another one stores: addresses that row 0 would have.
struct SavedRows {
  bool needed = false;
  char* below = nullptr;  ///< of the device's own rows
  char* above = nullptr;
};

/// The loops of a call, or the part of them that one device has.
struct StreamShape {
  std::vector<StreamBuffer> buffers;
  std::vector<StreamStage> stages;
  /// The rows that are stored, and that are loaded from the arrays themselves; by default all.
  StreamRows own{0, std::numeric_limits<std::int64_t>::max()};
  std::vector<SavedRows> saved;  ///< of each buffer, or empty
};

// --- Their operations: StreamPlan ---

/// The streams of a plan, each of which works in order; `work` is the caller's.
enum class StreamQueue { in, work, out };

/// keep: moves rows to another place in the memory of their windows; seed: copies rows from one buffer to another.
enum class StreamAction { load, keep, seed, launch, store };

/// The source of the rows of a load.
enum class StreamSource { array, saved_below, saved_above };

/// A contiguous copy. `from` and `to` are offsets into device memory; the host's side of a load or
/// a store is an offset from row 0 of the buffer.
struct StreamPiece {
  int buffer;
  StreamSource source = StreamSource::array;
  std::size_t from, to, bytes;
};

struct StreamOperation {
  StreamAction action;
  std::int64_t chunk;
  int stage          = -1;
  std::int64_t begin = 0, end = 0;              ///< rows of a launch
  std::size_t first_piece = 0, last_piece = 0;  ///< of a copy, in StreamPlan::pieces
  std::size_t first_origin = 0;                 ///< of a launch, in StreamPlan::origins
  int after[2]             = {-1, -1};          ///< operations of other queues to wait for
  int event                = -1;                ///< recorded after it, if others wait for it

  StreamQueue queue() const {
    return action == StreamAction::load    ? StreamQueue::in
           : action == StreamAction::store ? StreamQueue::out
                                           : StreamQueue::work;
  }
};

struct StreamPlan {
  std::vector<StreamOperation> operations;  ///< in an order in which they may run one by one
  std::vector<StreamPiece> pieces;
  /// Offsets into device memory that row 0 of each access of a launch would have; may be negative.
  std::vector<std::ptrdiff_t> origins;
  std::int64_t chunk_rows     = 0;  ///< at most
  std::int64_t chunks         = 0;
  int slots                   = 0;
  int events                  = 0;
  std::size_t memory          = 0;  ///< bytes of device memory
  std::size_t bytes_to_device = 0;
  std::size_t bytes_to_host   = 0;
};

/// Options of a plan.
struct PlanOptions {
  std::int64_t chunk_rows = 0;  ///< 0: chosen
  int slots               = 0;  ///< 0: three
  std::size_t memory      = 0;  ///< bytes of device memory at most
  std::int64_t most_rows  = 0;  ///< of a launch, which counts in 32 bits; 0: any
  /// Bytes of the largest array in a chunk, if its rows are chosen.
  std::size_t smallest_chunk = std::size_t(1) << 20;
  std::size_t largest_chunk  = std::numeric_limits<std::size_t>::max();
  /// Bytes that are copied in a direction before other work on the device gets the link.
  std::size_t turn = std::size_t(32) << 20;
};

/// \param label begins messages
/// \throw Error if a stage reads rows that no stage writes and no load brings
/// \throw Error if one chunk takes more than the memory
StreamPlan plan_stream(std::string const& label, StreamShape const& shape,
                       PlanOptions const& options);

// --- The transport ---

/// The choice for a loop that can work in place.
struct TransportChoice {
  bool in_place;
  std::string why;  ///< what it follows from, as a part of a sentence
};

/// Arrays of this size take as long in place as staged. On an H200 with PCIe 5, 29 of 30 loops
/// without a halo, from 16 KiB to 64 MiB, took the faster transport by these two numbers.
inline constexpr std::size_t in_place_bytes = std::size_t(8) << 20;
inline constexpr double in_place_part       = 0.5;

/// Chooses by the shape of a loop: staging carries each element over the link once, whether it is
/// touched or not, and costs time to begin and to end.
/// \param coherent the device reaches all memory of the host coherently
TransportChoice choose_transport(StreamShape const& shape, bool coherent);

// --- Several devices ---

/// The shares of devices in a loop, by the rates of their links: 1 for the fastest and, in sixteenths, less
/// for slower ones, so that noise does not change the parts from run to run; 1 for all if one rate is 0,
/// which is unknown.
std::vector<double> weights_by(std::vector<double> const& rates);

/// Partitions rows by the weights of the parts.
/// \param multiple the cuts lie at multiples of this number of rows, counted from the first row
std::vector<StreamRows> split_rows(StreamRows const& rows, std::vector<double> const& weights,
                                   std::int64_t multiple = 1);

/// Partitions a shape so that one part stores each row. A part also loads the rows of its neighbours
/// that its halos reach, and computes the rows of intermediate arrays there that its stages read.
/// \param weights, multiple as of split_rows
std::vector<StreamShape> split_stream(StreamShape const& shape, std::vector<double> const& weights,
                                      std::int64_t multiple = 1);

/// Rows that a part loads and another part stores: they are copied before any part stores.
struct RowsToSave {
  int buffer;
  StreamRows rows;
  bool above;  ///< the part's own rows; else below them
};
std::vector<RowsToSave> rows_to_save(std::string const& label, StreamShape const& part);

}  // namespace KokkosHostSpaces::Impl

#endif
