// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_TWIN_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_TWIN_HPP

#include "../../plain/Twin.hpp"

#include <cstddef>
#include <memory>

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
class CopyTwin : public Twin {
 public:
  virtual void enqueue(double* destination, double const* source) = 0;
};

std::unique_ptr<CopyTwin> make_copy_twin(CopyShape const& shape, CopyDirection direction,
                                         Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
