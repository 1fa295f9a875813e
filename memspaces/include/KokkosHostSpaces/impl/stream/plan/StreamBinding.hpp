// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Binds the arguments of streamed loops, without their types, to the shape that is planned; refuses
// arguments that do not fit the range or each other.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_BINDING_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_BINDING_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// The access of a loop to an argument.
enum class Access { read, write, update };

/// The reach of the memory of a View: page-locked memory by all, pageable memory by the host.
enum class Side { page_locked, pageable, device };

/// A View, or an intermediate array, as an argument.
struct ArgumentFacts {
  std::string label;
  std::string space;
  Side side                 = Side::pageable;
  char* data                = nullptr;  ///< nullptr with `intermediate`
  void const* intermediate  = nullptr;  ///< identity of an intermediate array
  std::size_t element_bytes = 0;
  bool is_comparable        = false;  ///< its elements have no padding
  int rank                  = 1;
  std::int64_t extents[3]   = {1, 1, 1};
  bool layout_right         = true;
  bool contiguous           = true;
  bool fixed                = false;  ///< resident: on the device, with any extents
  bool stale                = false;  ///< resident: known to differ from its copies
  double touched            = 1;
  Access access             = Access::read;
  std::int64_t halo         = 0;
};

/// A loop of a chain.
struct LoopFacts {
  int rank              = 1;
  std::int64_t lower[3] = {0, 0, 0};
  std::int64_t upper[3] = {1, 1, 1};
  bool covers_all       = false;  ///< elements outside of the range are written, too (steps)
  std::vector<ArgumentFacts> arguments;
};

/// The shape of the loops, and what their launches need.
struct StreamBinding {
  StreamShape shape;  ///< the accesses of a stage begin with its arguments, in their order
  int cut                 = 0;          ///< the index of the range that is cut into chunks
  std::int64_t rows       = 0;          ///< extent of that dimension
  std::int64_t extents[3] = {1, 1, 1};  ///< of all Views, as many as the range has indices
  bool layout_right       = true;
  std::string in_place;  ///< a View that a stage reads and writes, if any: ZeroCopy is impossible
  std::string pageable;  ///< an argument that kernels cannot reach, if any
  std::int64_t launch_rows = 0;  ///< rows of one launch at most, which counts in 32 bits
  /// Strides in elements, of each argument of each stage, and what else its elements are.
  struct Strides {
    std::int64_t of[3]        = {1, 1, 1};
    int rank                  = 1;
    std::size_t element_bytes = 0;
    bool is_comparable        = false;
  };
  std::vector<std::vector<Strides>> strides;
};

/// \param label begins messages
/// \throw Error if an argument does not fit the range or another argument
StreamBinding bind_stream(std::string const& label, std::vector<LoopFacts> const& loops);

}  // namespace KokkosHostSpaces::Impl

#endif
