// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Specialises Kokkos' ParallelFor, ParallelReduce and ParallelScan for a VectorPolicy: kernels of
// ours, which Kokkos launches, or adds to a graph, as its own. KokkosGlue refuses other versions of
// Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_VECTOR_GLUE_HPP
#define KOKKOS_HOST_SPACES_IMPL_VECTOR_GLUE_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/core/DependentLaunch.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>
#include <KokkosHostSpaces/impl/vector/MapKernel.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionKernel.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>

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

/// Tag of the constructors by which graphs change a policy.
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

// Scans are those of a RangePolicy on devices, too.
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

// Kokkos finds the graph node of a kernel by the kernel's type.
template <class Functor, class Policy>
struct Kokkos::Impl::PatternTagFromImplSpecialization<
    KokkosHostSpaces::Impl::VectorMap<Functor, Policy>> : std::type_identity<ParallelForTag> {};
template <class FunctorReducer, class Policy>
struct Kokkos::Impl::PatternTagFromImplSpecialization<
    KokkosHostSpaces::Impl::VectorReduction<FunctorReducer, Policy>>
    : std::type_identity<ParallelReduceTag> {};

namespace KokkosHostSpaces::Impl {

/// The launch bounds of a policy, by default `Otherwise` threads. None for functors that are too
/// large for a kernel parameter, since Kokkos before 5.2 does not compile both.
template <class Kernel, unsigned Otherwise>
using LaunchBoundsOf = std::conditional_t<
    Kokkos::Impl::DeduceCudaLaunchMechanism<Kernel>::launch_mechanism !=
        Kokkos::Impl::CudaLaunchMechanism::LocalMemory,
    Kokkos::LaunchBounds<>,
    std::conditional_t<(Kernel::Policy::launch_bounds::maxTperB > 0),
                       typename Kernel::Policy::launch_bounds, Kokkos::LaunchBounds<Otherwise, 1>>>;

/// Threads of a block: those of the policy, or `otherwise`; at most as many as the bounds guarantee
/// registers for.
template <class Bounds, class Policy>
unsigned threads_of_block(Policy const& policy, unsigned otherwise) {
  constexpr unsigned most = Bounds::maxTperB > 0 ? std::bit_floor(Bounds::maxTperB) : 256;
  static_assert(most >= warp_size, "the LaunchBounds leave a block less than a warp");
  return std::min(policy.block_size() > 0 ? policy.block_size() : otherwise, most);
}

/// The dependent launch of a kernel. Possible where Kokkos passes the kernel as a parameter, and
/// does not fence behind each launch to check for errors.
template <class Kernel, class Bounds>
struct DependentLaunchOf {
  static constexpr auto mechanism = Kokkos::Impl::CudaLaunchMechanism::LocalMemory;
  static constexpr bool is_possible =
#ifdef KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK
      false;
#else
      Kokkos::Impl::DeduceCudaLaunchMechanism<Kernel>::launch_mechanism == mechanism;
#endif

  static DependentLaunch& get() {
    using Function = Kokkos::Impl::CudaParallelLaunchKernelFunc<Kernel, Bounds, mechanism>;
    static DependentLaunch instance(reinterpret_cast<void const*>(Function::get_kernel_func()));
    return instance;
  }
};

/// Launches a kernel, from Hopper on as a dependent launch, or adds it to a graph. DependentLaunch
/// learns of each node, since khs::instantiate decides which nodes start early.
template <class Bounds, class Policy, class Kernel>
void launch(Policy const& policy, Kernel const& kernel, unsigned blocks, unsigned threads) {
  static_assert(!Policy::experimental_contains_desired_occupancy,
                "a VectorPolicy takes no DesiredOccupancy: use a RangePolicy");
  using Dependent        = DependentLaunchOf<Kernel, Bounds>;
  constexpr bool is_node = Policy::is_graph_kernel::value;
  Kokkos::Cuda const& on = policy.space();
  if constexpr (Dependent::is_possible && !is_node)
    if (blocks > 0 && on.cuda_device_prop().major >= 9) {
      desul::ensure_cuda_lock_arrays_on_device();
      if (Dependent::get().launch(blocks, threads, &kernel, on.cuda_stream(), on.cuda_device()))
        return;
    }
  Kokkos::Impl::CudaParallelLaunch<Kernel, Bounds>(kernel, dim3(blocks), dim3(threads), 0,
                                                   on.impl_internal_space_instance());
  if constexpr (Dependent::is_possible && is_node)
    Dependent::get().be_node(Kokkos::Impl::get_cuda_graph_node_from_kernel(kernel),
                             on.cuda_device());
}

/// A copy for nodes of graphs, which outlive their policy and functor; else a reference, since a
/// copy of an instance costs atomics.
template <class T, class Policy>
using Kept = std::conditional_t<Policy::is_graph_kernel::value, T, T const&>;

/// Runs a VectorMap, which is a base because Kokkos casts the kernel of a node to this class.
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

  // A multiple of all block sizes.
  static constexpr std::uint64_t most_indices = (std::uint64_t(1) << 32) - most_threads_of_block;

  static std::uint64_t count(Policy const& policy) {
    return std::uint64_t(policy.end()) - std::uint64_t(policy.begin());
  }

  // A function of its own, since nvcc cannot read a discarded loop.
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

  Kept<Functor, Policy> m_functor;
  Kept<Policy, Policy> m_policy;
};

/// Locks the scratch memory of an instance against growth by other threads. Kokkos before 5.2 has
/// no lock.
template <class Internal>
auto lock_scratch(Internal const& internal) {
  if constexpr (requires { internal.m_mutexScratchSpace; })
    return std::unique_lock(internal.m_mutexScratchSpace);
  else
    return nullptr;
}

/// Runs a VectorReduction. The mailbox of its blocks lies in a workspace of the stream, whose
/// kernels run one after the other; a node of a graph has its own, since nodes may run at the same
/// time.
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
    if (shape.blocks > 1) this->use_workspace(workspace(BlockMailbox<Value>::bytes(shape.blocks)));
    launch<Bounds>(m_policy, static_cast<Kernel const&>(*this), shape.blocks, shape.threads);
    if (on_device || m_result_on_host == nullptr) return;
    space.fence("KokkosHostSpaces::VectorPolicy: the host gets the result of a reduction");
    *m_result_on_host = *this->result();
  }

 private:
  // Leaves each thread 128 registers.
  using Bounds = LaunchBoundsOf<Kernel, 512>;

  void* workspace(std::size_t bytes) {
    Kokkos::Cuda const& space = m_policy.space();
    if constexpr (Policy::is_graph_kernel::value) {
      m_node_workspace =
          Workspace(Kokkos::view_alloc(space, "VectorPolicy: parts of a reduction"), bytes);
      space.fence("KokkosHostSpaces::VectorPolicy: before a graph can be submitted");
      return m_node_workspace.data();
    } else {
      return reduction_workspace(space.cuda_stream(), space.cuda_device(), bytes);
    }
  }

  using Workspace = Kokkos::View<unsigned char*, Kokkos::CudaSpace>;

  Kept<Policy, Policy> m_policy;
  Value* m_result_on_host = nullptr;
  Workspace m_node_workspace;
};

// Kokkos reduces all other values with its own kernels.
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
