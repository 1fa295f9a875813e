// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Skewed tiling of a streamed loop: the rows of each chunk, the rows of each stage and buffer in
// it, and the place of the windows of the buffers in device memory.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_TILING_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_TILING_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// The rows of the chunks.
struct ChunkRows {
  std::int64_t most     = 0;  ///< of any chunk
  std::int64_t fewest   = 0;  ///< of the first chunk and of the last ones
  std::int64_t in_pages = 1;  ///< chunks begin at multiples of this, as far as possible
};

/// The rows that the stages and buffers of a loop have in each chunk. For stage s, buffer b, chunk
/// c:
///
///   lag(s)         = max over its accesses: halo + (lag(w) if an earlier stage w writes the buffer, else 0)
///   front(-1)      = min over stages begin(s) + min over stages lag(s)
///   front_length() = max over stages (end(s) + lag(s)) - front(-1)
///   done(s, c)     = clamp(front(c) - lag(s), begin(s), end(s))
///   loaded(b, c)   = clamp(front(c), load(b).begin, load(b).end)
///   present(b, c)  = loaded(b, c) if b is loaded, else done(writer(b), c)
///   window(b, c)   = [min over readers s of (done(s, c - 1) - halo), present(b, c))
///   kept(b)        = max over accesses (lag(s) + halo) - (0 if b is loaded, else lag(writer(b)))
///   window(b, c).count() <= front(c) - front(c - 1) + kept(b)
class StageSkew {
 public:
  /// \throw Error if a stage reads rows that no stage writes and no load brings
  StageSkew(std::string const& label, StreamShape const& shape);

  /// Rows by which the front moves until all stages are done.
  std::int64_t front_length() const;
  /// Cuts the path of the front into chunks.
  void cut(ChunkRows const& rows);
  std::int64_t chunks() const { return static_cast<std::int64_t>(m_fronts.size()); }

  /// The row before which a stage is done after a chunk; chunk -1: where the stage begins.
  std::int64_t done(int stage, std::int64_t chunk) const;
  /// The row before which a buffer is present on the device after a chunk.
  std::int64_t present(int buffer, std::int64_t chunk) const;
  /// The row before which a buffer is loaded after a chunk.
  std::int64_t loaded(int buffer, std::int64_t chunk) const;
  /// The rows of a buffer that lie in its window in a chunk.
  StreamRows window(int buffer, std::int64_t chunk) const;

  /// Rows of a window that stages of later chunks read again, at most.
  std::int64_t kept(int buffer) const { return m_buffers[at(buffer)].kept; }
  /// The rows of a buffer that are loaded, if it is loaded.
  StreamRows load(int buffer) const { return m_buffers[at(buffer)].load; }
  /// The stage that writes a buffer, or -1.
  int writer(int buffer) const { return m_buffers[at(buffer)].writer; }

 private:
  struct User {
    int stage;
    std::int64_t halo;
  };
  struct Buffer {
    std::vector<User> users;
    StreamRows load;
    int writer        = -1;
    std::int64_t kept = 0;
  };

  void find_users();
  void check_reads(std::string const& label) const;
  void find_lags();
  void find_kept_rows();

  StreamShape const& m_shape;
  std::vector<Buffer> m_buffers;
  std::vector<std::int64_t> m_lags, m_fronts;
  std::int64_t m_begin = 0;  // front(-1)
};

/// The memory of the windows of a buffer: slots, or one slot in which a window slides.
struct StreamWindows {
  std::size_t begin = 0;  ///< offset of the first slot
  std::size_t bytes = 0;  ///< of one slot
  int slots         = 0;
};

/// The size of chunks, and the place of their windows.
struct StreamTiling {
  ChunkRows rows;
  int slots = 0;  ///< of each buffer that crosses the link
  std::vector<StreamWindows> windows;
  std::size_t memory = 0;  ///< bytes of all windows
};

/// \throw Error if one chunk takes more memory, or has more rows, than the options allow
StreamTiling tile_stream(std::string const& label, StreamShape const& shape,
                         PlanOptions const& options, StageSkew const& skew);

}  // namespace KokkosHostSpaces::Impl

#endif
