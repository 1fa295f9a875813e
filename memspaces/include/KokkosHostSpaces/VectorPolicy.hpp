// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A RangePolicy for short bodies: parallel_for and parallel_reduce over vectors as bare CUDA kernels.
//
//   Kokkos::parallel_for("axpy", khs::VectorPolicy(instance, 0, n),
//                        KOKKOS_LAMBDA(int i) { y(i) += 3 * x(i); });
//   Kokkos::parallel_reduce("dot", khs::VectorPolicy(instance, 0, n),
//                           KOKKOS_LAMBDA(int i, double& sum) { sum += x(i) * y(i); }, result);

#ifndef KOKKOS_HOST_SPACES_VECTOR_POLICY_HPP
#define KOKKOS_HOST_SPACES_VECTOR_POLICY_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/vector/MapKernel.hpp>
#include <KokkosHostSpaces/impl/vector/VectorGlue.hpp>

#include <Kokkos_Core.hpp>

#include <bit>
#include <cstdint>
#include <string>

namespace KokkosHostSpaces {

/// A range of indices, with the template arguments and constructors of a Kokkos::RangePolicy. On a
/// Cuda instance each thread of a parallel_for does one index, and a parallel_reduce is one kernel
/// whose result is bitwise the same in every run: the order of its parts follows from the number of
/// indices, the block size and the launch bounds alone. On the host it is a RangePolicy.
///
/// From Hopper on (compiled for sm_90 or later) a kernel may start before earlier work of its
/// stream is done; it waits for that work before it calls the body (programmatic dependent launch).
/// Nodes of graphs do so after khs::instantiate. Captured kernels, kernels on CUDA's default
/// streams, and kernels in a Kokkos that checks bounds do not.
///
/// Meant for short bodies: the longer the body, the less the policy matters. element_wise and
/// element_sum are faster on large arrays on the device, since they load packs of 16 bytes: on an H200
/// by up to 13 % for double, and up to 58 % for float.
///
/// A parallel_scan, and reductions to arrays, to values of more than 1 KiB and to values that are not
/// trivially copyable, run as Kokkos' own kernels; such reductions cannot be nodes of graphs.
/// \throw Error for a node of a graph of more than 2^32 - 1024 indices
template <class... Properties>
class VectorPolicy : public Kokkos::RangePolicy<Properties...> {
  using Range = Kokkos::RangePolicy<Properties...>;

 public:
  using typename Range::execution_space;

  using Range::Range;
  VectorPolicy() = default;

  /// Called by graphs of Kokkos to add properties to a policy.
  template <class... Others>
  VectorPolicy(VectorPolicy<Others...> const& other)
      : Range(static_cast<Kokkos::RangePolicy<Others...> const&>(other)),
        m_block_size(other.block_size()) {}
  /// Called by graphs of Kokkos to replace the instance of a policy.
  VectorPolicy(Impl::PolicyUpdate tag, VectorPolicy const& other, execution_space const& space)
      : Range(tag, static_cast<Range const&>(other), space), m_block_size(other.m_block_size) {}

  /// As set_chunk_size of a RangePolicy.
  VectorPolicy& set_chunk_size(int size) {
    Range::set_chunk_size(size);
    return *this;
  }

  /// Sets the number of threads of a block on a device; for reductions it is the largest. The default is
  /// best for device memory. Kernels that read 2^19 or more elements of host memory gain from blocks of
  /// 1024, which need Kokkos::LaunchBounds<1024> among the properties.
  /// \param threads a power of two from 32 to the LaunchBounds (256 without them)
  /// \throw Error for any other number
  VectorPolicy& set_block_size(unsigned threads) {
    unsigned const bound = Range::launch_bounds::maxTperB;
    unsigned const most  = bound > 0 ? std::bit_floor(bound) : Impl::threads_of_map;
    if (!std::has_single_bit(threads) || threads < Impl::warp_size || threads > most)
      throw Error("KokkosHostSpaces::VectorPolicy: blocks of " + std::to_string(threads) +
                  " threads are impossible (powers of two from 32 to " + std::to_string(most) +
                  "): take one of these, or larger Kokkos::LaunchBounds");
    m_block_size = threads;
    return *this;
  }
  /// Threads of a block; 0 if not set.
  unsigned block_size() const { return m_block_size; }

 private:
  unsigned m_block_size = 0;
};

/// \cond deduction guides
VectorPolicy()->VectorPolicy<>;
VectorPolicy(std::int64_t, std::int64_t)->VectorPolicy<>;
VectorPolicy(std::int64_t, std::int64_t, Kokkos::ChunkSize)->VectorPolicy<>;
template <Impl::ExecutionSpace Space>
VectorPolicy(Space const&, std::int64_t, std::int64_t) -> VectorPolicy<Space>;
template <Impl::ExecutionSpace Space>
VectorPolicy(Space const&, std::int64_t, std::int64_t, Kokkos::ChunkSize) -> VectorPolicy<Space>;
/// \endcond

}  // namespace KokkosHostSpaces

#endif
