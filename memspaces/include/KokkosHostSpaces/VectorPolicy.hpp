// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// For parallel_for and parallel_reduce over vectors: what a RangePolicy is, at the speed of plain
// CUDA.
//
//   Kokkos::parallel_for("axpy", khs::VectorPolicy(instance, 0, n),
//                        KOKKOS_LAMBDA(int i) { y(i) += 3 * x(i); });
//   Kokkos::parallel_reduce("dot", khs::VectorPolicy(instance, 0, n),
//                           KOKKOS_LAMBDA(int i, double& sum) { sum += x(i) * y(i); }, result);

#ifndef KOKKOS_HOST_SPACES_VECTOR_POLICY_HPP
#define KOKKOS_HOST_SPACES_VECTOR_POLICY_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/vector/VectorGlue.hpp>
#include <KokkosHostSpaces/impl/vector/VectorShape.hpp>

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
/// From Hopper on, if it is compiled for that, a kernel may start before earlier work of its stream is
/// done, and waits for that by itself before the body is called (programmatic dependent launch). In
/// graphs if khs::instantiate has made them ready; not in captures, nor on CUDA's default streams,
/// nor where Kokkos checks bounds.
///
/// Meant for short bodies: the more a body does, the less its policy matters. Large arrays on the
/// device are read 2 to 3 % faster by packs of 16 bytes, which element_wise and element_sum take.
/// Reductions to arrays, and of values of more than 1 KiB or that cannot be copied as bytes, are
/// those of a RangePolicy, and no nodes of graphs. A node of a graph counts to 2^32 - 1024 indices.
/// A parallel_scan is that of a RangePolicy.
template <class... Properties>
class VectorPolicy : public Kokkos::RangePolicy<Properties...> {
  using Range = Kokkos::RangePolicy<Properties...>;

 public:
  using typename Range::execution_space;

  using Range::Range;
  VectorPolicy() = default;

  /// For Kokkos' graphs, which add properties to a policy, ...
  template <class... Others>
  VectorPolicy(VectorPolicy<Others...> const& other)
      : Range(static_cast<Kokkos::RangePolicy<Others...> const&>(other)),
        m_block_size(other.block_size()) {}
  /// ... and replace its instance.
  VectorPolicy(Impl::PolicyUpdate update, VectorPolicy const& other, execution_space const& space)
      : Range(update, static_cast<Range const&>(other), space), m_block_size(other.m_block_size) {}

  /// As of a RangePolicy, but what it returns is still a VectorPolicy.
  VectorPolicy& set_chunk_size(int size) {
    Range::set_chunk_size(size);
    return *this;
  }

  /// Threads of a block on a device, for sums the most. Unless it is set: what was measured to be
  /// best on device memory. Kernels on much host memory gain from blocks of 1024, which take
  /// Kokkos::LaunchBounds<1024> among the properties.
  /// \throw Error if it is not a power of two from 32 to 1024, or more than the LaunchBounds
  ///        (256 without them)
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
  /// 0 if it was not set.
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
