// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How far each stage of a streamed loop is behind the front, and so, which rows of each array are on
// the device for each chunk.

#ifndef KOKKOS_HOST_SPACES_IMPL_STAGE_SKEW_HPP
#define KOKKOS_HOST_SPACES_IMPL_STAGE_SKEW_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

namespace KokkosHostSpaces::Impl {

class StageSkew {
 public:
  /// \throw Error if a stage reads rows that nobody writes
  StageSkew(std::string const& label, StreamShape const& shape);

  /// Rows that the front passes until all stages are done.
  std::int64_t way() const;
  /// Cuts the way of the front into chunks of so many rows; if `halvings` is not 0 and there are
  /// enough rows, with smaller ones at both ends, the first and the last halved so often. Those
  /// between are equal; they begin at multiples of `page_rows`, but for the last few, if they have
  /// eight times so many.
  void set_pace(std::int64_t chunk_rows, int halvings, std::int64_t page_rows);
  std::int64_t chunks() const { return static_cast<std::int64_t>(m_fronts.size()); }

  /// Rows that a stage has done when a chunk is done; chunk -1: where it begins.
  std::int64_t done(int stage, std::int64_t chunk) const;
  /// Rows of a buffer that are there when a chunk is done.
  std::int64_t present(int buffer, std::int64_t chunk) const;
  /// Rows of a buffer that were loaded when a chunk is done.
  std::int64_t loaded(int buffer, std::int64_t chunk) const;
  /// The rows of a buffer that some stage needs from a chunk on, as far as they are there then.
  StreamRows window(int buffer, std::int64_t chunk) const;

  /// A window never has more rows than the chunk and so many.
  std::int64_t kept(int buffer) const { return m_buffers[std::size_t(buffer)].kept; }
  /// With so many rows in a chunk, what is kept can be moved within one window.
  std::int64_t rows_to_move(int buffer) const {
    return m_buffers[std::size_t(buffer)].rows_to_move;
  }
  /// The rows of a buffer that are loaded, if it is.
  StreamRows load(int buffer) const { return m_buffers[std::size_t(buffer)].load; }
  /// The stage that writes a buffer, or -1.
  int writer(int buffer) const { return m_buffers[std::size_t(buffer)].writer; }

 private:
  struct User {
    int stage;
    std::int64_t halo;
  };
  struct Buffer {
    std::vector<User> users;
    StreamRows load;
    int writer                = -1;
    std::int64_t kept         = 0;
    std::int64_t rows_to_move = 0;
  };

  void find_users();
  void find_lags();
  void find_kept_rows();
  void check_reads(std::string const& label) const;

  StreamShape const& m_shape;
  std::vector<Buffer> m_buffers;
  std::vector<std::int64_t> m_lags, m_fronts;
  std::int64_t m_base = 0, m_first_lag = 0;
};

}  // namespace KokkosHostSpaces::Impl

#endif
