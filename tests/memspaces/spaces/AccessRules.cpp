// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Access and assignment between spaces, mostly checked at compile time.

#include "Spaces.hpp"

using Host = Kokkos::DefaultHostExecutionSpace;

template <class Space, class Memory>
inline constexpr bool accessible = Kokkos::SpaceAccessibility<Space, Memory>::accessible;

template <class Dst, class Src>
inline constexpr bool assignable = Kokkos::SpaceAccessibility<Dst, Src>::assignable&&
    std::is_assignable_v<Kokkos::View<int*, Dst>&, Kokkos::View<int*, Src>>;

template <class Dst, class Src>
inline constexpr bool refused =
    !Kokkos::SpaceAccessibility<Dst, Src>::assignable &&
    !std::is_assignable_v<Kokkos::View<int*, Dst>&, Kokkos::View<int*, Src>>;

// Which Views a View takes: of HostSpace, PinnedSpace, MappedSpace and WriteCombinedSpace.
template <class Dst>
inline constexpr auto takes =
    std::array{assignable<Dst, Kokkos::HostSpace>, assignable<Dst, khs::PinnedSpace>,
               assignable<Dst, khs::MappedSpace>, assignable<Dst, khs::WriteCombinedSpace>};
template <class Dst>
inline constexpr auto refuses =
    std::array{refused<Dst, Kokkos::HostSpace>, refused<Dst, khs::PinnedSpace>,
               refused<Dst, khs::MappedSpace>, refused<Dst, khs::WriteCombinedSpace>};
static_assert(takes<Kokkos::HostSpace> == std::array{true, true, true, false});
static_assert(takes<khs::PinnedSpace> == std::array{false, true, true, false});
static_assert(takes<khs::MappedSpace> == std::array{false, false, true, false});
static_assert(takes<khs::WriteCombinedSpace> == std::array{false, false, false, true});
static_assert(refuses<Kokkos::HostSpace> == std::array{false, false, false, true});
static_assert(refuses<khs::PinnedSpace> == std::array{true, false, false, true});
static_assert(refuses<khs::MappedSpace> == std::array{true, true, false, true});
static_assert(refuses<khs::WriteCombinedSpace> == std::array{true, true, true, false});

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
template <class View>
inline constexpr bool is_cuda_memory =
    std::is_same_v<typename View::memory_space, Kokkos::CudaSpace>&&
        std::is_convertible_v<View, Kokkos::View<int*, Kokkos::Cuda>>;
template <class Space, class View = Kokkos::View<int*, Space>>
inline constexpr bool has_mirrors_for_kernels =
    is_cuda_memory<decltype(Kokkos::create_mirror_view(Kokkos::Cuda(), std::declval<View>()))>&&
        is_cuda_memory<decltype(Kokkos::create_mirror_view_and_copy(Kokkos::Cuda(),
                                                                    std::declval<View>()))>;
static_assert(has_mirrors_for_kernels<khs::PinnedSpace>);
static_assert(has_mirrors_for_kernels<khs::MappedSpace>);
static_assert(has_mirrors_for_kernels<khs::WriteCombinedSpace>);

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

TEMPLATE_TEST_CASE("a space describes itself as Kokkos asks for", "[access]",
                   KOKKOS_HOST_SPACES_ALL) {
  STATIC_CHECK(Kokkos::is_memory_space_v<TestType>);
  STATIC_CHECK(std::is_same_v<typename TestType::memory_space, TestType>);
  STATIC_CHECK(std::is_same_v<typename TestType::execution_space, Host>);
  using View = Kokkos::View<int*, TestType>;
  STATIC_CHECK(std::is_same_v<typename View::memory_space, TestType>);
  STATIC_CHECK(std::is_same_v<typename View::host_mirror_type::memory_space, TestType>);
  CHECK(TestType(3).device_id() == 3);
  CHECK(TestType().device_id() == -1);
}

TEST_CASE("mapped_view keeps the memory traits", "[access]") {
  using Atomic = Kokkos::View<int*, khs::PinnedSpace, Kokkos::MemoryTraits<Kokkos::Atomic>>;
  using Mapped = khs::mapped_view_type<Atomic>;
  STATIC_CHECK(Mapped::memory_traits::is_atomic);
  STATIC_CHECK(Mapped::memory_traits::is_unmanaged);
  STATIC_CHECK(std::is_same_v<decltype(khs::mapped_view(Atomic())), Mapped>);
  using Read =
      Kokkos::View<int const*, khs::PinnedSpace, Kokkos::MemoryTraits<Kokkos::RandomAccess>>;
  STATIC_CHECK(khs::mapped_view_type<Read>::memory_traits::is_random_access);
}

// A library of functions with names of ours, for the Views of anybody.
namespace library {
// clang-format off
template <class T, class... P> int mapped_view(Kokkos::View<T*, P...> const&) { return 1; }
template <class T, class... P> int explain(Kokkos::View<T, P...> const&, Kokkos::View<T, P...> const&) { return 1; }
template <class View> int device_view(Kokkos::DefaultExecutionSpace const&, View const&) { return 1; }
template <class View, class... More> int snapshot(char const*, Kokkos::DefaultExecutionSpace const&, View const&, More const&...) { return 1; }
template <class E, class View, class Op> int element_wise(std::string const&, E const&, View const&, Op const&) { return 1; }
template <class E, class View, class Op> int element_sum(std::string const&, E const&, View const&, Op const&, View const&) { return 1; }
template <class T, class... P> int slice(Kokkos::View<T*, P...> const&) { return 1; }
template <class T, class... P> int read(Kokkos::View<T*, P...> const&) { return 1; }
template <class T, class... P> int write(Kokkos::View<T*, P...> const&) { return 1; }
template <class T, class... P> int update(Kokkos::View<T*, P...> const&) { return 1; }
template <class T, class... P> int resident(Kokkos::View<T*, P...> const&) { return 1; }
template <class View> int stage(View const&) { return 1; }
template <class View> int steps(int, View const&) { return 1; }
template <class View> int copy_of(View const&, View const&) { return 1; }
// clang-format on

template <class View>
int call_all(View const& view) {
  Kokkos::DefaultExecutionSpace const instance;
  auto const identity = [](int a) { return a; };
  auto const writer   = [](auto const&...) {};
  return mapped_view(view) + explain(view, view) + device_view(instance, view) +
         snapshot("s", instance, view, writer) + element_wise("w", instance, view, identity) +
         element_sum("s", instance, view, identity, view) + slice(view) + read(view) + write(view) +
         update(view) + resident(view) + stage(view) + steps(1, view) + copy_of(view, view);
}
}  // namespace library

TEST_CASE("a library's own functions are called for Views in our spaces", "[access]") {
  CHECK(library::call_all(Kokkos::View<int*, khs::PinnedSpace>("pinned", 3)) == 14);
  CHECK(library::call_all(Kokkos::View<int*, khs::MappedSpace>("mapped", 3)) == 14);
}
