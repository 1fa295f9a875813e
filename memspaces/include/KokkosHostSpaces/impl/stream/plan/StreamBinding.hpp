// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// From the arguments of a streamed loop, without their types, to what is planned; here what cannot
// work is refused.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_BINDING_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_BINDING_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// What a loop does to an argument.
enum class Access { read, write, update };

/// Who can reach the memory of a View.
enum class Side { page_locked, pageable, device };

/// A View, or an intermediate array, as an argument.
struct ArgumentFacts {
  std::string label;
  std::string space;
  Side side                 = Side::pageable;
  char* data                = nullptr;  ///< nullptr with `intermediate`
  void const* intermediate  = nullptr;  ///< what tells an intermediate array from others
  std::size_t element_bytes = 0;
  int rank                  = 1;
  std::int64_t extents[3]   = {1, 1, 1};
  bool layout_right         = true;
  bool contiguous           = true;
  bool fixed                = false;  ///< on the device already, whatever its extents
  double touched            = 1;
  Access access             = Access::read;
  std::int64_t halo         = 0;
};

/// A loop of a chain.
struct LoopFacts {
  int rank              = 1;
  std::int64_t lower[3] = {0, 0, 0};
  std::int64_t upper[3] = {1, 1, 1};
  bool covers_all       = false;  ///< what the range leaves out is written, too (steps)
  std::vector<ArgumentFacts> arguments;
};

/// What the launches need to know.
struct StreamBinding {
  StreamShape shape;  ///< the accesses of a stage begin with its arguments, in their order
  int cut                 = 0;          ///< the index of the range along which is cut
  std::int64_t rows       = 0;          ///< extent of that dimension
  std::int64_t extents[3] = {1, 1, 1};  ///< of all Views, as many as the range has indices
  bool layout_right       = true;
  bool in_place = false;  ///< a stage reads what it writes: only by copies
  std::string pageable;   ///< an argument that kernels cannot reach, if any
  std::string pageable_space;
  std::int64_t launch_rows = 0;  ///< rows whose elements one launch can count
  /// Strides in elements, of each argument of each stage.
  struct Strides {
    std::int64_t of[3] = {1, 1, 1};
  };
  std::vector<std::vector<Strides>> strides;
};

/// \param label begins messages
/// \throw Error saying what does not fit what
StreamBinding bind_stream(std::string const& label, std::vector<LoopFacts> const& loops);

}  // namespace KokkosHostSpaces::Impl

#endif
