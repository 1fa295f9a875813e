// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What both sides of the comparison do, in terms of pointers: no Kokkos, nothing of the library.

#ifndef KOKKOS_HOST_SPACES_PERF_TWINS_SIDE_HPP
#define KOKKOS_HOST_SPACES_PERF_TWINS_SIDE_HPP

#include <cstddef>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// add: c = a + b, scale: c = s a, triad: c = a + s b, each with the transfers that the transport
/// needs; to_device: the transfer of a alone, to_host: the transfer of c alone.
enum class Operation { add, scale, triad, to_device, to_host };

/// Where the data lives and how a kernel gets at it: pageable and pinned memory is copied to the
/// device and back, mapped memory is used in place by the device, resident memory is on the device
/// already. Without a device all transports are host memory that is used in place.
enum class Transport { pageable, pinned, mapped, resident };

inline constexpr double scale_factor = 3.0;

constexpr bool is_kernel(Operation op) { return op < Operation::to_device; }
constexpr bool reads_a(Operation op) { return op != Operation::to_host; }
constexpr bool reads_b(Operation op) { return op == Operation::add || op == Operation::triad; }
constexpr bool writes_c(Operation op) { return op != Operation::to_device; }

/// Arrays read or written, as STREAM counts them.
constexpr int arrays_moved(Operation op) { return reads_a(op) + reads_b(op) + writes_c(op); }

/// Inputs a and b, output c; null pointers where there are none.
struct Arrays {
  double* a = nullptr;
  double* b = nullptr;
  double* c = nullptr;
};

/// A cudaStream_t; ignored without a device.
using Stream = void*;

/// One side of the comparison for one transport: Kokkos with the library, or the plain twin.
class Side {
 public:
  Side()                       = default;
  Side(Side const&)            = delete;
  Side& operator=(Side const&) = delete;
  virtual ~Side()              = default;

  /// Where the data lives: device memory for Transport::resident, else host memory.
  virtual Arrays data() const = 0;

  /// The copies on the device, if the transport makes copies.
  virtual Arrays staging() const = 0;

  /// Enqueues the operation on the first `elements` elements (without a device: carries it out).
  virtual void enqueue(Operation op, std::size_t elements) = 0;
};

/// The plain twin: CUDA, or a C++ loop where there is no device. Memory is not initialised.
std::unique_ptr<Side> make_twin(Transport transport, std::size_t capacity, Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
