// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What Kokkos runs for a VectorPolicy: bare kernels, launched, and put into graphs, by what Kokkos
// does it for its own. KokkosGlue refuses other versions.

#ifndef KOKKOS_HOST_SPACES_IMPL_VECTOR_GLUE_HPP
#define KOKKOS_HOST_SPACES_IMPL_VECTOR_GLUE_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>
#include <KokkosHostSpaces/impl/vector/VectorKernels.hpp>
#include <KokkosHostSpaces/impl/vector/VectorShape.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

template <class... Properties>
class VectorPolicy;

namespace Impl {

/// Tells a constructor of a policy that it is for a graph.
using PolicyUpdate = Kokkos::Impl::PolicyUpdate;
}  // namespace Impl
}  // namespace KokkosHostSpaces

namespace Kokkos::Impl {

// On the host a VectorPolicy is a RangePolicy.
template <class Functor, class... P, class ExecutionSpace>
class ParallelFor<Functor, KokkosHostSpaces::VectorPolicy<P...>, ExecutionSpace>
    : public ParallelFor<Functor, RangePolicy<P...>, ExecutionSpace> {
  using ParallelFor<Functor, RangePolicy<P...>, ExecutionSpace>::ParallelFor;
};

template <class FunctorReducer, class... P, class ExecutionSpace>
class ParallelReduce<FunctorReducer, KokkosHostSpaces::VectorPolicy<P...>, ExecutionSpace>
    : public ParallelReduce<FunctorReducer, RangePolicy<P...>, ExecutionSpace> {
  using ParallelReduce<FunctorReducer, RangePolicy<P...>, ExecutionSpace>::ParallelReduce;
};

// Scans are those of a RangePolicy everywhere.
template <class Functor, class... P, class ExecutionSpace>
class ParallelScan<Functor, KokkosHostSpaces::VectorPolicy<P...>, ExecutionSpace>
    : public ParallelScan<Functor, RangePolicy<P...>, ExecutionSpace> {
  using ParallelScan<Functor, RangePolicy<P...>, ExecutionSpace>::ParallelScan;
};

template <class Functor, class... P, class Total, class ExecutionSpace>
class ParallelScanWithTotal<Functor, KokkosHostSpaces::VectorPolicy<P...>, Total, ExecutionSpace>
    : public ParallelScanWithTotal<Functor, RangePolicy<P...>, Total, ExecutionSpace> {
  using ParallelScanWithTotal<Functor, RangePolicy<P...>, Total,
                              ExecutionSpace>::ParallelScanWithTotal;
};

}  // namespace Kokkos::Impl

#ifdef KOKKOS_ENABLE_CUDA

// Kokkos finds the node of a graph that a kernel belongs to by the type of the kernel.
template <class Functor, class Policy>
struct Kokkos::Impl::PatternTagFromImplSpecialization<
    KokkosHostSpaces::Impl::VectorMap<Functor, Policy>> : std::type_identity<ParallelForTag> {};
template <class FunctorReducer, class Policy>
struct Kokkos::Impl::PatternTagFromImplSpecialization<
    KokkosHostSpaces::Impl::VectorReduction<FunctorReducer, Policy>>
    : std::type_identity<ParallelReduceTag> {};

namespace KokkosHostSpaces::Impl {

/// The launch bounds of a policy, or `Otherwise` threads; none for kernels whose functor is too
/// large for an argument, since Kokkos before 5.2 does not compile both.
template <class Kernel, unsigned Otherwise>
using LaunchBoundsOf = std::conditional_t<
    Kokkos::Impl::DeduceCudaLaunchMechanism<Kernel>::launch_mechanism !=
        Kokkos::Impl::CudaLaunchMechanism::LocalMemory,
    Kokkos::LaunchBounds<>,
    std::conditional_t<(Kernel::Policy::launch_bounds::maxTperB > 0),
                       typename Kernel::Policy::launch_bounds, Kokkos::LaunchBounds<Otherwise, 1>>>;

/// The kernel, where Kokkos passes it as its argument and does not look at each launch.
template <class Kernel, class Bounds>
struct Early {
  static constexpr auto mechanism = Kokkos::Impl::CudaLaunchMechanism::LocalMemory;
  static constexpr bool is_able =
      !kokkos_checks_launches &&
      Kokkos::Impl::DeduceCudaLaunchMechanism<Kernel>::launch_mechanism == mechanism;

  static DependentLaunch& kernel() {
    using Function = Kokkos::Impl::CudaParallelLaunchKernelFunc<Kernel, Bounds, mechanism>;
    static DependentLaunch early(reinterpret_cast<void const*>(Function::get_kernel_func()));
    return early;
  }
};

/// Before earlier work of the stream is done, for which the kernel waits by itself: Kokkos cannot.
/// Nodes of all devices are told of: whether one may start so, its graph decides when instantiated.
template <class Bounds, class Policy, class Kernel>
void launch(Policy const& policy, Kernel const& kernel, unsigned blocks, unsigned threads) {
  static_assert(!Policy::experimental_contains_desired_occupancy,
                "a VectorPolicy takes no DesiredOccupancy: use a RangePolicy");
  using MaybeEarly       = Early<Kernel, Bounds>;
  constexpr bool is_node = Policy::is_graph_kernel::value;
  Kokkos::Cuda const& on = policy.space();
  if constexpr (MaybeEarly::is_able && !is_node)
    if (blocks > 0 && on.cuda_device_prop().major >= 9) {
      desul::ensure_cuda_lock_arrays_on_device();
      if (MaybeEarly::kernel().launch(blocks, threads, &kernel, on.cuda_stream(), on.cuda_device()))
        return;
    }
  Kokkos::Impl::CudaParallelLaunch<Kernel, Bounds>(kernel, dim3(blocks), dim3(threads), 0,
                                                   on.impl_internal_space_instance());
  if constexpr (MaybeEarly::is_able && is_node)
    MaybeEarly::kernel().be_node(Kokkos::Impl::get_cuda_graph_node_from_kernel(kernel),
                                 on.cuda_device());
}

/// Copies of an instance cost atomics; only nodes of graphs outlive their policy.
template <class Policy>
using KeptPolicy = std::conditional_t<Policy::is_graph_kernel::value, Policy, Policy const&>;

/// What is kept of the functor of a node, which is launched as a whole.
struct Launched {
  explicit Launched(auto const&) {}
};
template <class Functor, class Policy>
using KeptFunctor = std::conditional_t<Policy::is_graph_kernel::value, Launched, Functor const&>;

/// Runs a VectorMap. The kernel is a base, since Kokkos casts it to the node of a graph.
template <class Functor, class Policy_>
class VectorFor : public VectorMap<Functor, Policy_> {
  using Kernel = VectorMap<Functor, Policy_>;

 public:
  using Policy = Policy_;

  VectorFor(Functor const& functor, Policy const& policy)
      : Kernel(functor, policy.begin(), std::uint32_t(std::min(count(policy), most_indices))),
        m_functor(functor),
        m_policy(policy) {}

  Policy const& get_policy() const { return m_policy; }

  void execute() {
    auto const n = count(m_policy);
    if constexpr (Policy::is_graph_kernel::value)
      if (n > most_indices)
        throw Error("KokkosHostSpaces::VectorPolicy: " + std::to_string(n) +
                    " indices are too many for a node of a graph (a kernel counts to " +
                    std::to_string(most_indices) + "): split the range into several nodes");
    enqueue(*this, std::uint32_t(std::min(n, most_indices)));
    if constexpr (!Policy::is_graph_kernel::value) enqueue_from(most_indices, n);
  }

 private:
  using Index  = typename Policy::index_type;
  using Bounds = LaunchBoundsOf<Kernel, threads_of_map>;

  // Whole blocks, whatever their size.
  static constexpr std::uint64_t most_indices = (std::uint64_t(1) << 32) - most_threads_of_block;

  static std::uint64_t count(Policy const& policy) {
    return std::uint64_t(policy.end()) - std::uint64_t(policy.begin());
  }

  // Apart, since nvcc cannot read a discarded loop.
  void enqueue_from(std::uint64_t done, std::uint64_t n) const {
    for (; done < n; done += most_indices) {
      auto const more = std::uint32_t(std::min(n - done, most_indices));
      enqueue(Kernel(m_functor, Index(std::uint64_t(m_policy.begin()) + done), more), more);
    }
  }

  void enqueue(Kernel const& kernel, std::uint32_t count) const {
    unsigned threads = Kernel::threads_of_block;
    if (threads == 0)
      threads = std::min(threads_of_block<Bounds>(m_policy, threads_of_map),
                         std::bit_ceil(std::clamp(count, warp_size, most_threads_of_block)));
    launch<Bounds>(m_policy, kernel, (count + threads - 1) / threads, threads);
  }

  KeptFunctor<Functor, Policy> m_functor;
  KeptPolicy<Policy> m_policy;
};

/// Nobody else grows the scratch memory of an instance meanwhile; before 5.2 Kokkos does not care.
template <class Internal>
auto lock_scratch(Internal const& internal) {
  if constexpr (requires { internal.m_mutexScratchSpace; })
    return std::unique_lock(internal.m_mutexScratchSpace);
  else
    return nullptr;
}

/// Runs a VectorReduction. Blocks leave their parts in memory of the stream, which runs one kernel at
/// a time; nodes of graphs, of which several may run at a time, have their own.
template <class FunctorReducer, class Policy_>
class VectorReduce : public VectorReduction<FunctorReducer, Policy_> {
  using Kernel = VectorReduction<FunctorReducer, Policy_>;
  using Value  = typename Kernel::Value;

 public:
  using Policy = Policy_;

  template <class Result>
  VectorReduce(FunctorReducer const& functor_reducer, Policy const& policy, Result const& result)
      : Kernel(functor_reducer, policy.begin(), policy.end()), m_policy(policy) {
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::Cuda,
                                             typename Result::memory_space>::accessible)
      this->set_result(result.data());
    else
      m_result_on_host = result.data();
  }

  Policy const& get_policy() const { return m_policy; }

  void execute() {
    Kokkos::Cuda const& space = m_policy.space();
    SumShape const shape =
        shape_of_sum(this->count(), threads_of_block<Bounds>(m_policy, most_threads_of_block));
    auto const lock      = lock_scratch(*space.impl_internal_space_instance());
    bool const on_device = this->result() != nullptr;
    if (!on_device)
      this->set_result(reinterpret_cast<Value*>(
          Kokkos::Impl::cuda_internal_scratch_unified(space, sizeof(Value))));
    if (shape.blocks > 1) this->use_scratch(workspace(Parts::bytes(shape.blocks)));
    launch<Bounds>(m_policy, static_cast<Kernel const&>(*this), shape.blocks, shape.threads);
    if (on_device || m_result_on_host == nullptr) return;
    space.fence("KokkosHostSpaces::VectorPolicy: the host gets the result of a reduction");
    *m_result_on_host = *this->result();
  }

 private:
  // More threads would leave each less than 128 registers.
  using Bounds = LaunchBoundsOf<Kernel, 512>;

  void* workspace(std::size_t bytes) {
    Kokkos::Cuda const& space = m_policy.space();
    if constexpr (Policy::is_graph_kernel::value) {
      m_of_node = OfNode(Kokkos::view_alloc(space, "VectorPolicy: parts of a reduction"), bytes);
      space.fence("KokkosHostSpaces::VectorPolicy: before a graph can be submitted");
      return m_of_node.data();
    } else {
      return reduction_workspace(space.cuda_stream(), space.cuda_device(), bytes);
    }
  }

  using Parts  = BlockMailbox<Value>;
  using OfNode = Kokkos::View<unsigned char*, Kokkos::CudaSpace>;

  KeptPolicy<Policy> m_policy;
  Value* m_result_on_host = nullptr;
  OfNode m_of_node;
};

// Results that lanes of a warp cannot hand to each other are Kokkos' own.
template <class FunctorReducer, class... P>
using ReduceOnDevice = std::conditional_t<
    is_reduced_in_registers<FunctorReducer>, VectorReduce<FunctorReducer, VectorPolicy<P...>>,
    Kokkos::Impl::ParallelReduce<FunctorReducer, Kokkos::RangePolicy<P...>, Kokkos::Cuda>>;

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos::Impl {

template <class Functor, class... P>
class ParallelFor<Functor, KokkosHostSpaces::VectorPolicy<P...>, Kokkos::Cuda>
    : public KokkosHostSpaces::Impl::VectorFor<Functor, KokkosHostSpaces::VectorPolicy<P...>> {
  using KokkosHostSpaces::Impl::VectorFor<Functor, KokkosHostSpaces::VectorPolicy<P...>>::VectorFor;
};

template <class FunctorReducer, class... P>
class ParallelReduce<FunctorReducer, KokkosHostSpaces::VectorPolicy<P...>, Kokkos::Cuda>
    : public KokkosHostSpaces::Impl::ReduceOnDevice<FunctorReducer, P...> {
  static_assert(
      KokkosHostSpaces::Impl::is_reduced_in_registers<FunctorReducer> ||
          !RangePolicy<P...>::is_graph_kernel::value,
      "a VectorPolicy in a graph reduces to one value of at most 1 KiB that can be copied "
      "as bytes: use a RangePolicy");

 public:
  using KokkosHostSpaces::Impl::ReduceOnDevice<FunctorReducer, P...>::ReduceOnDevice;
};

}  // namespace Kokkos::Impl

#endif  // KOKKOS_ENABLE_CUDA

#endif
