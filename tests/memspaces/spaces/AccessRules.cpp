// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Access and assignment between spaces, mostly checked at compile time.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <type_traits>

namespace khs = KokkosHostSpaces;
using Host    = Kokkos::DefaultHostExecutionSpace;

template <class Space, class Memory>
inline constexpr bool accessible = Kokkos::SpaceAccessibility<Space, Memory>::accessible;

template <class Dst, class Src>
inline constexpr bool assignable = Kokkos::SpaceAccessibility<Dst, Src>::assignable&&
    std::is_assignable_v<Kokkos::View<int*, Dst>&, Kokkos::View<int*, Src>>;

template <class Dst, class Src>
inline constexpr bool refused =
    !Kokkos::SpaceAccessibility<Dst, Src>::assignable &&
    !std::is_assignable_v<Kokkos::View<int*, Dst>&, Kokkos::View<int*, Src>>;

static_assert(assignable<Kokkos::HostSpace, khs::PinnedSpace>);
static_assert(assignable<Kokkos::HostSpace, khs::MappedSpace>);
static_assert(assignable<khs::PinnedSpace, khs::MappedSpace>);

static_assert(refused<khs::PinnedSpace, Kokkos::HostSpace>);
static_assert(refused<khs::MappedSpace, Kokkos::HostSpace>);
static_assert(refused<khs::WriteCombinedSpace, Kokkos::HostSpace>);
static_assert(refused<Kokkos::HostSpace, khs::WriteCombinedSpace>);
static_assert(refused<khs::MappedSpace, khs::PinnedSpace>);
static_assert(refused<khs::WriteCombinedSpace, khs::MappedSpace>);
static_assert(refused<khs::WriteCombinedSpace, khs::PinnedSpace>);
static_assert(refused<khs::PinnedSpace, khs::WriteCombinedSpace>);
static_assert(refused<khs::MappedSpace, khs::WriteCombinedSpace>);

static_assert(accessible<Host, khs::PinnedSpace>);
static_assert(accessible<Host, khs::MappedSpace>);
static_assert(accessible<Host, khs::WriteCombinedSpace>);

#ifdef KOKKOS_ENABLE_CUDA
static_assert(!accessible<Kokkos::Cuda, khs::PinnedSpace>);
static_assert(accessible<Kokkos::Cuda, khs::MappedSpace>);
static_assert(accessible<Kokkos::Cuda, khs::WriteCombinedSpace>);

static_assert(refused<Kokkos::CudaSpace, khs::MappedSpace>);
static_assert(refused<Kokkos::CudaHostPinnedSpace, khs::PinnedSpace>);
static_assert(refused<khs::PinnedSpace, Kokkos::CudaHostPinnedSpace>);
static_assert(refused<khs::MappedSpace, Kokkos::CudaHostPinnedSpace>);
static_assert(refused<khs::PinnedSpace, Kokkos::CudaSpace>);
static_assert(refused<khs::MappedSpace, Kokkos::CudaUVMSpace>);

// Mirrors keep Kokkos' contract: for an execution space they lie in its own memory space.
template <class Space>
using MirrorForKernels =
    decltype(Kokkos::create_mirror_view(Kokkos::Cuda(), std::declval<Kokkos::View<int*, Space>>()));
template <class Space>
using CopyForKernels = decltype(Kokkos::create_mirror_view_and_copy(
    Kokkos::Cuda(), std::declval<Kokkos::View<int*, Space>>()));
template <class View>
inline constexpr bool is_cuda_memory =
    std::is_same_v<typename View::memory_space, Kokkos::CudaSpace>&&
        std::is_convertible_v<View, Kokkos::View<int*, Kokkos::Cuda>>;
static_assert(is_cuda_memory<MirrorForKernels<khs::PinnedSpace>>);
static_assert(is_cuda_memory<MirrorForKernels<khs::MappedSpace>>);
static_assert(is_cuda_memory<MirrorForKernels<khs::WriteCombinedSpace>>);
static_assert(is_cuda_memory<CopyForKernels<khs::PinnedSpace>>);
static_assert(is_cuda_memory<CopyForKernels<khs::MappedSpace>>);
static_assert(is_cuda_memory<CopyForKernels<khs::WriteCombinedSpace>>);

// device_view refers to the View itself where kernels can access it.
template <class Space>
using ForKernels = typename decltype(khs::device_view(
    Kokkos::Cuda(), std::declval<Kokkos::View<int*, Space>>()))::memory_space;
static_assert(std::is_same_v<ForKernels<khs::PinnedSpace>, Kokkos::CudaSpace>);
static_assert(std::is_same_v<ForKernels<khs::MappedSpace>, khs::MappedSpace>);
static_assert(std::is_same_v<ForKernels<khs::WriteCombinedSpace>, khs::WriteCombinedSpace>);

using OnCuda = Kokkos::View<int*, Kokkos::Device<Kokkos::Cuda, khs::MappedSpace>>;
static_assert(std::is_same_v<OnCuda::execution_space, Kokkos::Cuda>);
static_assert(std::is_same_v<OnCuda::host_mirror_type::memory_space, khs::MappedSpace>);
#endif

TEMPLATE_TEST_CASE("a space describes itself as Kokkos asks for", "[access]", khs::PinnedSpace,
                   khs::MappedSpace, khs::WriteCombinedSpace) {
  STATIC_CHECK(Kokkos::is_memory_space_v<TestType>);
  STATIC_CHECK(std::is_same_v<typename TestType::memory_space, TestType>);
  STATIC_CHECK(std::is_same_v<typename TestType::execution_space, Host>);
  using View = Kokkos::View<int*, TestType>;
  STATIC_CHECK(std::is_same_v<typename View::memory_space, TestType>);
  STATIC_CHECK(std::is_same_v<typename View::host_mirror_type::memory_space, TestType>);
  CHECK(TestType(3).device_id() == 3);
  CHECK(TestType().device_id() == -1);
}
