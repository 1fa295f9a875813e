// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a streamed loop does, as a list of operations that is made before anything runs. Pure: no
// device, no memory, no Kokkos; so it can be tested, and executed in any legal order.
//
// Arrays are cut into rows. With every chunk a *front* moves on by `chunk_rows`; a stage that reads
// with a halo lags behind the front (and behind the stages whose results it reads) by that halo, so
// that all it needs is on the device already. The rows at the end of a window which the next chunk
// needs again are copied to the head of the next window, on the device. So every row crosses the
// link once, whatever the halos and however many stages there are, and what is stored never was
// still to be loaded: loops in place need no more care. (Skewed tiles: M. Wolfe, "More iteration
// space tiling", SC 1989; I. Reguly et al., arXiv 1704.00693.)

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_PLAN_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// As an index of the containers of the standard library.
inline std::size_t at(int number) { return static_cast<std::size_t>(number); }

/// An array, of which the device holds windows; or what a stage makes of one.
/// Rows from `begin` up to, but without, `end`.
struct StreamRows {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end > begin ? end - begin : 0; }
};

struct StreamBuffer {
  std::string name;
  std::size_t row_bytes = 0;
  std::int64_t rows     = 0;        ///< of the whole array
  char* host            = nullptr;  ///< row 0; nullptr: it never leaves the device
  bool loaded           = false;    ///< the host's rows are copied to the device
  bool stored           = false;    ///< the rows that a stage writes are copied to the host
  bool fixed            = false;    ///< all of it is there already: neither windows nor copies
  double touched        = 1;        ///< of its elements, from 0 to 1: for the cost model
  int seed = -1;  ///< a buffer whose rows are copied here (on the device) before a stage writes
};

/// Where the loads of a part of a range find rows that another part stores: in copies of them.
/// Addresses of row 0 in these copies, were it there.
struct SavedRows {
  bool needed = false;
  char* below = nullptr;
  char* above = nullptr;
};

/// A stage reads rows of a buffer as far away as the halo, or writes its own rows.
struct StreamAccess {
  int buffer        = 0;
  std::int64_t halo = 0;
  bool writes       = false;
};

/// A loop over rows. At most one stage writes a buffer, and no stage before it reads it.
struct StreamStage {
  std::int64_t begin = 0, end = 0;
  std::vector<StreamAccess> accesses;
};

struct StreamShape {
  std::vector<StreamBuffer> buffers;
  std::vector<StreamStage> stages;
  /// The rows that are stored, and loaded from where they are; by default all.
  StreamRows own{0, std::numeric_limits<std::int64_t>::max()};
  std::vector<SavedRows> saved;  ///< of each buffer, or empty
};

/// Each queue works in order; the caller's stream is the second one.
enum class StreamQueue { in, work, out };

enum class StreamAction { load, keep, seed, launch, store };

/// Where a load finds its rows.
enum class StreamSource { array, saved_below, saved_above };

/// A copy; of a load or a store, one side is the host's: an offset from the buffer's row 0.
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
  int event                = -1;                ///< to record behind it, if others wait for it

  StreamQueue queue() const {
    return action == StreamAction::load    ? StreamQueue::in
           : action == StreamAction::store ? StreamQueue::out
                                           : StreamQueue::work;
  }
};

struct StreamPlan {
  std::vector<StreamOperation> operations;  ///< in an order in which they could run one by one
  std::vector<StreamPiece> pieces;
  /// Where row 0 of each access of a launch would be: an offset into device memory, may be negative.
  std::vector<std::ptrdiff_t> origins;
  std::int64_t chunk_rows     = 0;
  std::int64_t chunks         = 0;
  int slots                   = 0;
  int events                  = 0;
  std::size_t memory          = 0;  ///< bytes of device memory
  std::size_t bytes_to_device = 0;
  std::size_t bytes_to_host   = 0;
  /// Bytes after which other loops have their turns.
  std::size_t turn_to_device = std::numeric_limits<std::size_t>::max();
  std::size_t turn_to_host   = std::numeric_limits<std::size_t>::max();
};

/// What the caller, or the library, wants of a plan.
struct PlanOptions {
  std::int64_t chunk_rows = 0;  ///< 0: found here
  int slots               = 0;  ///< 0: three
  std::size_t memory      = 0;  ///< bytes at most
  /// Bytes of the largest array in a chunk, if that is found here.
  std::size_t smallest_chunk = std::size_t(1) << 20;
  std::size_t largest_chunk  = std::numeric_limits<std::size_t>::max();
  /// Bytes to and from the host of a loop for which another would have to wait too long.
  std::size_t gives_way_from = std::size_t(512) << 20;
  std::int64_t most_rows     = 0;  ///< rows at most, for what a launch can count; 0: any
};

/// \param label begins messages
/// \throw Error if a stage reads rows that nobody writes, or one chunk takes more than the memory
StreamPlan plan_stream(std::string const& label, StreamShape const& shape,
                       PlanOptions const& wishes);

}  // namespace KokkosHostSpaces::Impl

#endif
