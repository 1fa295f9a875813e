// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The transports of streamed loops: ways by which data reaches the kernels.

#ifndef KOKKOS_HOST_SPACES_STREAMED_TRANSPORT_HPP
#define KOKKOS_HOST_SPACES_STREAMED_TRANSPORT_HPP

namespace KokkosHostSpaces {

/// A transport as a value, for StreamOptions.
enum class Transport {
  staged,     ///< in chunks through device memory: copies in, kernels and copies out overlap
  zero_copy,  ///< kernels work on the host's memory in place
  automatic   ///< chosen by a rule; StreamedLoop::explain tells why
};

/// A transport as a type: `khs::streamed_for<khs::Staged>(...)`.
struct Staged {
  static constexpr Transport transport = Transport::staged;  ///< the same as a value
};
/// A transport as a type.
struct ZeroCopy {
  static constexpr Transport transport = Transport::zero_copy;  ///< the same as a value
};
/// Takes the transport of the options, which by default is chosen by a rule: arrays of up to 8 MiB,
/// or of which at most half is touched, in place; a halo, a chain and all other loops staged.
struct Automatic {
  static constexpr Transport transport = Transport::automatic;  ///< the same as a value
};

}  // namespace KokkosHostSpaces

#endif
