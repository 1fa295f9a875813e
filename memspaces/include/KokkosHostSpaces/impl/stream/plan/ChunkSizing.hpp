// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How many rows a chunk of a streamed loop has, and where its windows lie in device memory.

#ifndef KOKKOS_HOST_SPACES_IMPL_CHUNK_SIZING_HPP
#define KOKKOS_HOST_SPACES_IMPL_CHUNK_SIZING_HPP

#include <KokkosHostSpaces/impl/stream/plan/StageSkew.hpp>
#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// The windows of one buffer.
struct StreamWindows {
  std::size_t begin = 0;  ///< in device memory
  std::size_t bytes = 0;  ///< of one window
  int slots         = 0;
};

/// Where all windows lie, for some number of rows.
struct StreamLayout {
  std::vector<StreamWindows> windows;
  std::size_t memory = 0;
};

/// Keeps references to all that it is made of.
class ChunkSizing {
 public:
  ChunkSizing(std::string const& label, StreamShape const& shape, PlanOptions const& wishes,
              StageSkew const& lags);

  /// None, if there are none. \throw Error if one chunk takes more than the memory
  std::int64_t choose_rows() const;
  /// How often the rows of the first and the last chunks are halved.
  int halvings(std::int64_t rows) const;
  /// So many rows of any array are whole pages of 4 KiB; a power of two. H200, copies both ways at
  /// once, of chunks that begin whole pages behind the first element and of others, medians: an update
  /// of 1 GiB 26.0 and 26.5 ms, a triad 48.5 and 50.5.
  std::int64_t page_rows() const;
  StreamLayout layout(std::int64_t rows) const;
  int slots() const { return m_slots; }

 private:
  bool fits(std::int64_t rows) const;
  std::int64_t wanted_rows() const;
  std::int64_t rows_that_fit(std::int64_t most, std::int64_t limit) const;
  void refuse_if(bool bad, char const* why, std::int64_t rows) const;

  std::string const& m_label;
  StreamShape const& m_shape;
  PlanOptions const& m_wishes;
  StageSkew const& m_lags;
  int m_slots;
};

}  // namespace KokkosHostSpaces::Impl

#endif
