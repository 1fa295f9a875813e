// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The one place that touches Kokkos' internals: which space reaches which, allocation records, and
// how deep_copy moves bytes. memspaces/README.md lists them. Written against Kokkos 5.0 to 5.2.

#ifndef KOKKOS_HOST_SPACES_IMPL_KOKKOS_GLUE_HPP
#define KOKKOS_HOST_SPACES_IMPL_KOKKOS_GLUE_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/WriteCombinedSpace.hpp>
#include <KokkosHostSpaces/impl/ByteCopy.hpp>

#include <type_traits>

// Also checked when CMake configures: cmake/Kokkos.cmake.
#if !defined(KOKKOS_VERSION) || KOKKOS_VERSION < 50000 || KOKKOS_VERSION >= 50300
#error \
    "Kokkos Host Spaces supports Kokkos 5.0 to 5.2: install one of these, or a newer release of this library"
#endif
#if defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL) || defined(KOKKOS_ENABLE_OPENACC)
#error \
    "Kokkos Host Spaces supports CUDA devices only: use a Kokkos with CUDA, or one without a device"
#endif

namespace KokkosHostSpaces::Impl {

template <class Space>
inline constexpr bool is_host_space_v =
    std::is_same_v<Space, PinnedSpace> || std::is_same_v<Space, MappedSpace> ||
    std::is_same_v<Space, WriteCombinedSpace>;

#ifdef KOKKOS_ENABLE_CUDA
template <class Space>
inline constexpr bool is_cuda_only_v = std::is_same_v<Space, Kokkos::CudaSpace>;
template <class Space>
inline constexpr bool is_used_by_cuda_v =
    std::is_same_v<Space, Kokkos::CudaSpace> || std::is_same_v<Space, Kokkos::CudaUVMSpace>;
template <class Space>
inline constexpr bool is_page_locked_v =
    is_host_space_v<Space> || std::is_same_v<Space, Kokkos::CudaHostPinnedSpace>;
template <class Space>
inline constexpr bool is_known_space_v =
    is_page_locked_v<Space> || is_used_by_cuda_v<Space> || std::is_same_v<Space, Kokkos::HostSpace>;
#else
template <class Space>
inline constexpr bool is_cuda_only_v = false;
template <class Space>
inline constexpr bool is_used_by_cuda_v = false;
template <class Space>
inline constexpr bool is_known_space_v =
    is_host_space_v<Space> || std::is_same_v<Space, Kokkos::HostSpace>;
#endif

/// Pairs of spaces that this library answers for.
template <class Dst, class Src>
concept OurPair = (is_host_space_v<Dst> ||
                   is_host_space_v<Src>)&&is_known_space_v<Dst>&& is_known_space_v<Src>;

/// Nothing else is assignable.
template <class Dst, class Src>
inline constexpr bool assignable_v =
    std::is_same_v<Dst, Src> ||
    (std::is_same_v<Dst, Kokkos::HostSpace> &&
     (std::is_same_v<Src, PinnedSpace> || std::is_same_v<Src, MappedSpace>)) ||
    (std::is_same_v<Dst, PinnedSpace> && std::is_same_v<Src, MappedSpace>);

/// May the execution space of `Dst` access memory in `Src`?
template <class Dst, class Src>
inline constexpr bool accessible_v =
    is_used_by_cuda_v<Dst> ? !std::is_same_v<Src, PinnedSpace> : !is_cuda_only_v<Src>;

template <class Space>
SpaceDescription HostMemorySpace<Space>::describe() {
  return {Space::name(), std::is_same_v<Space, WriteCombinedSpace>};
}

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos::Impl {

template <class Dst, class Src>
requires(KokkosHostSpaces::Impl::OurPair<Dst, Src> &&
         !std::is_same_v<Dst, Src>) struct MemorySpaceAccess<Dst, Src> {
  enum : bool { assignable = KokkosHostSpaces::Impl::assignable_v<Dst, Src> };
  enum : bool { accessible = KokkosHostSpaces::Impl::accessible_v<Dst, Src> };
  enum : bool { deepcopy = true };
};

// Copies of contiguous bytes. Without an instance Kokkos fences before and after.
template <class Dst, class Src, class ExecutionSpace>
struct DeepCopy<Dst, Src, ExecutionSpace,
                std::enable_if_t<KokkosHostSpaces::Impl::OurPair<Dst, Src>>> {
  DeepCopy(void* dst, void const* src, size_t bytes) {
    if constexpr (on_host)
      hostspace_parallel_deepcopy(dst, src, static_cast<ptrdiff_t>(bytes));
    else
      KokkosHostSpaces::Impl::copy_and_wait(dst, src, bytes);
  }

  DeepCopy(ExecutionSpace const& instance, void* dst, void const* src, size_t bytes) {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>) {
      if constexpr (KokkosHostSpaces::Impl::is_page_locked_v<Dst> &&
                    KokkosHostSpaces::Impl::is_page_locked_v<Src>)
        KokkosHostSpaces::Impl::enqueue_byte_copy(instance, dst, src, bytes);
      else
        KokkosHostSpaces::Impl::copy_async(dst, src, bytes, instance.cuda_stream());
      return;
    }
#endif
    instance.fence("Kokkos::deep_copy: fence of the host instance before the copy");
    DeepCopy(dst, src, bytes);
  }

 private:
  static constexpr bool on_host =
      !KokkosHostSpaces::Impl::is_cuda_only_v<Dst> && !KokkosHostSpaces::Impl::is_cuda_only_v<Src>;
};

}  // namespace Kokkos::Impl

KOKKOS_IMPL_SHARED_ALLOCATION_SPECIALIZATION(KokkosHostSpaces::PinnedSpace);
KOKKOS_IMPL_SHARED_ALLOCATION_SPECIALIZATION(KokkosHostSpaces::MappedSpace);
KOKKOS_IMPL_SHARED_ALLOCATION_SPECIALIZATION(KokkosHostSpaces::WriteCombinedSpace);

#ifdef KOKKOS_ENABLE_CUDA

namespace KokkosHostSpaces::Impl {

/// Tells Kokkos Tools of a deep_copy for as long as it lives.
class DeepCopyEvent {
 public:
  template <class Dst, class Src>
  DeepCopyEvent(Dst const& dst, Src const& src) {
    if (Kokkos::Tools::Experimental::get_callbacks().begin_deep_copy == nullptr) return;
    Kokkos::Profiling::beginDeepCopy(
        Kokkos::Profiling::make_space_handle(Dst::memory_space::name()), dst.label(), dst.data(),
        Kokkos::Profiling::make_space_handle(Src::memory_space::name()), src.label(), src.data(),
        dst.span() * sizeof(typename Dst::value_type));
  }
  ~DeepCopyEvent() {
    if (Kokkos::Tools::Experimental::get_callbacks().end_deep_copy != nullptr)
      Kokkos::Profiling::endDeepCopy();
  }
  DeepCopyEvent(DeepCopyEvent const&)            = delete;
  DeepCopyEvent& operator=(DeepCopyEvent const&) = delete;
};

// Kokkos' element-wise copy kernel, walking memory in the order of the side that is reached over
// the link.
template <class Dst, class Src>
void enqueue_copy_kernel(Kokkos::Cuda const& instance, Dst const& dst, Src const& src) {
  using Kokkos::Iterate;
  constexpr bool dst_is_remote = !is_used_by_cuda_v<typename Dst::memory_space>;
  Iterate const order          = dst_is_remote ? Kokkos::Impl::get_iteration_order(dst)
                                               : Kokkos::Impl::get_iteration_order(src);
  auto const launch            = [&]<class Layout>(Layout) {
    Kokkos::Impl::ViewCopy<typename Dst::uniform_runtime_nomemspace_type,
                           typename Src::uniform_runtime_const_nomemspace_type, Layout,
                           Kokkos::Cuda, unsigned(Dst::rank), int64_t>(dst, src, instance);
  };
  if (order == Iterate::Right)
    launch(Kokkos::LayoutRight{});
  else
    launch(Kokkos::LayoutLeft{});
}

/// Pageable and device memory, which no common execution space reaches: stock Kokkos copies it
/// contiguously or throws.
template <class Dst, class Src>
concept PageableAndDevice = (std::is_same_v<Dst, Kokkos::HostSpace> && is_cuda_only_v<Src>) ||
                            (is_cuda_only_v<Dst> && std::is_same_v<Src, Kokkos::HostSpace>);

template <class Dst, class Src>
concept OurSpaces = OurPair<Dst, Src> || PageableAndDevice<Dst, Src>;

/// Calls of deep_copy that this library answers: on a Cuda instance, and to or from device memory
/// in any case.
template <class ExecutionSpace, class Dst, class Src>
concept OurCopy = OurSpaces<typename Dst::memory_space, typename Src::memory_space> &&
                  (std::is_same_v<ExecutionSpace, Kokkos::Cuda> ||
                   is_cuda_only_v<typename Dst::memory_space> ||
                   is_cuda_only_v<typename Src::memory_space>)&&!Dst::traits::impl_is_customized
                  && !Src::traits::impl_is_customized;

}  // namespace KokkosHostSpaces::Impl

#include <KokkosHostSpaces/impl/CopyViews.hpp>

// Overloads with the signatures of Kokkos' own, word for word: a constraint makes them the better
// match.
namespace Kokkos {

template <class ExecSpace, class DT, class... DP, class ST, class... SP>
requires KokkosHostSpaces::Impl::OurCopy<ExecSpace, View<DT, DP...>, View<ST, SP...>>
inline void deep_copy(
    const ExecSpace& exec_space, const View<DT, DP...>& dst, const View<ST, SP...>& src,
    std::enable_if_t<(Kokkos::is_execution_space<ExecSpace>::value &&
                      std::is_void_v<typename ViewTraits<DT, DP...>::specialize> &&
                      std::is_void_v<typename ViewTraits<ST, SP...>::specialize> &&
                      (unsigned(ViewTraits<DT, DP...>::rank) != 0 ||
                       unsigned(ViewTraits<ST, SP...>::rank) != 0))>* = nullptr) {
  KokkosHostSpaces::Impl::copy_views(exec_space, dst, src);
}

template <class DT, class... DP, class ST, class... SP>
requires KokkosHostSpaces::Impl::OurCopy<void, View<DT, DP...>, View<ST, SP...>>
inline void deep_copy(
    const View<DT, DP...>& dst, const View<ST, SP...>& src,
    std::enable_if_t<(std::is_void_v<typename ViewTraits<DT, DP...>::specialize> &&
                      std::is_void_v<typename ViewTraits<ST, SP...>::specialize> &&
                      (unsigned(ViewTraits<DT, DP...>::rank) != 0 ||
                       unsigned(ViewTraits<ST, SP...>::rank) != 0))>* = nullptr) {
  KokkosHostSpaces::Impl::copy_views(dst, src);
}

// A value into memory that kernels of the instance may not access: they fill it through its mapped
// address.
template <class ExecSpace, class DT, class... DP>
requires(
    std::is_same_v<ExecSpace, Kokkos::Cuda>&& std::is_same_v<
        typename View<DT, DP...>::memory_space,
        KokkosHostSpaces::
            PinnedSpace>) inline void deep_copy(const ExecSpace& space, const View<DT, DP...>& dst,
                                                typename ViewTraits<DT, DP...>::const_value_type&
                                                    value,
                                                std::enable_if_t<
                                                    Kokkos::is_execution_space<ExecSpace>::value &&
                                                    std::is_void_v<typename ViewTraits<
                                                        DT, DP...>::specialize> &&
                                                    !Kokkos::SpaceAccessibility<
                                                        ExecSpace, typename ViewTraits<DT, DP...>::
                                                                       memory_space>::accessible>* =
                                                    nullptr) {
  Kokkos::deep_copy(space, KokkosHostSpaces::mapped_view(dst), value);
}

}  // namespace Kokkos

#endif  // KOKKOS_ENABLE_CUDA

#include <KokkosHostSpaces/impl/Mirrors.hpp>

#endif
