// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_TWINS_COPY_TWIN_HPP
#define KOKKOS_HOST_SPACES_PERF_TWINS_COPY_TWIN_HPP

#include "Side.hpp"

#include <memory>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// How the two sides of a copy of a matrix lie.
enum class CopyLayout {
  contiguous,
  strided,    ///< the host's rows have a pitch of twice their length, the device's are dense
  transposed  ///< from columns one behind the other to rows one behind the other
};

enum class CopyDirection { to_device, to_host };

struct CopyShape {
  CopyLayout layout;
  std::size_t rows, columns;  ///< of doubles

  constexpr std::size_t elements() const { return rows * columns; }
  constexpr std::size_t host_span() const {
    return elements() * (layout == CopyLayout::strided ? 2 : 1);
  }
};

/// The copy as a plain program does it.
class CopyTwin {
 public:
  CopyTwin()                           = default;
  CopyTwin(CopyTwin const&)            = delete;
  CopyTwin& operator=(CopyTwin const&) = delete;
  virtual ~CopyTwin()                  = default;

  /// Ways to do it, and the choice of one; the first is chosen at the beginning.
  virtual std::vector<std::string> variants() const = 0;
  virtual void choose(int variant)                  = 0;

  /// Enqueues the copy (without a device: carries it out).
  virtual void enqueue(double* destination, double const* source) = 0;
};

std::unique_ptr<CopyTwin> make_copy_twin(CopyShape const& shape, CopyDirection direction,
                                         Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
