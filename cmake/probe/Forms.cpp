// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Every form of call that this library takes over from Kokkos, one a line, made by a library of templates
// that knows Kokkos alone. The object is never linked: which functions of this library it names for which
// form, tells which forms reach them (Reached.cmake). What carries the calls out is only declared, so that it
// is compiled in seconds.
//
// With KOKKOS_HOST_SPACES_FORMS_LAST this library is included last, and the program makes each call, too.

#ifdef KOKKOS_HOST_SPACES_FORMS_LAST
#include "KokkosCalls.hpp"
#endif

#define KOKKOS_HOST_SPACES_IMPL_DEEP_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_RESIZE_HPP
#include <KokkosHostSpaces/PinnedDualView.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/WriteCombinedSpace.hpp>
#include <KokkosHostSpaces/impl/copy/CopyOverloads.hpp>
#include <KokkosHostSpaces/impl/spaces/ResizeOverloads.hpp>

#include "KokkosCalls.hpp"

#include <string>

namespace {

using Kokkos::LayoutLeft, Kokkos::LayoutRight, Kokkos::LayoutStride, Kokkos::view_alloc;
using Kokkos::View, Kokkos::WithoutInitializing;
using KokkosHostSpaces::MappedSpace, KokkosHostSpaces::WriteCombinedSpace;
using KokkosHostSpaces::PinnedDualView, KokkosHostSpaces::PinnedSpace;
using HostInstance = Kokkos::DefaultHostExecutionSpace;

// An object of that type. Not defined.
template <class Type>
Type& some();

}  // namespace

// Elements of a type of its own tell a form from others.
#define KHS_FORM(NAME, CALLS, ...)    \
  namespace forms {                   \
  struct NAME {                       \
    double value;                     \
  };                                  \
  }                                   \
  extern "C" void khs_form_##NAME() { \
    namespace calls = CALLS;          \
    using T         = forms::NAME;    \
    static_cast<void>(__VA_ARGS__);   \
  }
#ifdef KOKKOS_HOST_SPACES_FORMS_LAST
#define KHS_DIRECT(NAME, ...) KHS_FORM(direct_##NAME, Kokkos, __VA_ARGS__)
#else
#define KHS_DIRECT(NAME, ...)
#endif
// Reaches this library in any order of includes: Kokkos finds it when it instantiates its own function.
#define ANY_ORDER(NAME, ...)                     \
  KHS_FORM(any_##NAME, KokkosCalls, __VA_ARGS__) \
  KHS_DIRECT(NAME, __VA_ARGS__)
// Reaches it in templates of libraries that are included later, and in the program.
#define FIRST(NAME, ...)                           \
  KHS_FORM(first_##NAME, KokkosCalls, __VA_ARGS__) \
  KHS_DIRECT(NAME, __VA_ARGS__)

// The same, of which Kokkos' own does not compile.
#ifdef KOKKOS_HOST_SPACES_FORMS_LAST
#define ONLY_OURS(NAME, ...) KHS_DIRECT(NAME, __VA_ARGS__)
#else
#define ONLY_OURS(NAME, ...) FIRST(NAME, __VA_ARGS__)
#endif

#define PINNED some<View<T*, PinnedSpace>>()
#define PINNED_RIGHT some<View<T**, LayoutRight, PinnedSpace>>()
#define MAPPED some<View<T*, MappedSpace>>()
#define COMBINED some<View<T*, WriteCombinedSpace>>()
#define STRIDED some<View<T*, LayoutStride, PinnedSpace>>()
#define HOST some<View<T*, Kokkos::HostSpace>>()
#define DUAL some<PinnedDualView<T*>>()
#define ON_HOST some<HostInstance>()

// clang-format off
ANY_ORDER(zero_fill, KokkosCalls::make<View<T*, PinnedSpace>>("label", 1))
ANY_ORDER(zero_fill_mapped, KokkosCalls::make<View<T**, LayoutRight, MappedSpace>>("label", 1, 1))
ANY_ORDER(zero_fill_sequential, KokkosCalls::make<View<T*, PinnedSpace>>(view_alloc("label", Kokkos::SequentialHostInit), 1))
ANY_ORDER(resize, calls::resize(PINNED, 1))
ANY_ORDER(resize_write_combined, calls::resize(COMBINED, 1))
ANY_ORDER(resize_instance, calls::resize(ON_HOST, PINNED, 1))
ANY_ORDER(resize_property, calls::resize(WithoutInitializing, PINNED, 1))
ANY_ORDER(resize_properties, calls::resize(view_alloc(ON_HOST, WithoutInitializing), PINNED_RIGHT, 1, 1))
ANY_ORDER(resize_layout, calls::resize(PINNED_RIGHT, some<LayoutRight>()))
ANY_ORDER(resize_strided, calls::resize(STRIDED, some<LayoutStride>()))
ANY_ORDER(resize_properties_layout, calls::resize(view_alloc(WithoutInitializing), MAPPED, some<LayoutRight>()))
ANY_ORDER(realloc, calls::realloc(PINNED, 1))
ANY_ORDER(realloc_property, calls::realloc(WithoutInitializing, COMBINED, 1))
ANY_ORDER(realloc_properties, calls::realloc(view_alloc(ON_HOST), PINNED_RIGHT, 1, 1))
ANY_ORDER(realloc_layout, calls::realloc(MAPPED, some<LayoutRight>()))
FIRST(mirror, calls::create_mirror(some<PinnedSpace>(), HOST))
FIRST(mirror_of_default, calls::create_mirror(some<PinnedSpace>(), some<View<T*>>()))
FIRST(mirror_uninitialised, calls::create_mirror(WithoutInitializing, some<MappedSpace>(), HOST))
FIRST(mirror_view, calls::create_mirror_view(some<WriteCombinedSpace>(), STRIDED))
FIRST(mirror_view_uninitialised, calls::create_mirror_view(WithoutInitializing, some<PinnedSpace>(), MAPPED))
FIRST(mirror_view_and_copy, calls::create_mirror_view_and_copy(some<PinnedSpace>(), HOST))
FIRST(mirror_view_and_copy_name, calls::create_mirror_view_and_copy(some<MappedSpace>(), PINNED_RIGHT, std::string()))
ANY_ORDER(dual_view_resize, Kokkos::resize(DUAL, 1))
ANY_ORDER(dual_view_resize_property, Kokkos::resize(WithoutInitializing, DUAL, 1))
ANY_ORDER(dual_view_realloc, Kokkos::realloc(DUAL, 1))
ANY_ORDER(dual_view_subview, Kokkos::subview(DUAL, Kokkos::make_pair(0, 1)))

#ifdef KOKKOS_ENABLE_CUDA
#define ON_CUDA some<Kokkos::Cuda>()
#define DEVICE some<View<T*, Kokkos::CudaSpace>>()
#define DEVICE_LEFT some<View<T**, LayoutLeft, Kokkos::CudaSpace>>()

ANY_ORDER(resize_cuda, calls::resize(ON_CUDA, PINNED, 1))
ANY_ORDER(realloc_cuda, calls::realloc(view_alloc(ON_CUDA), PINNED, 1))
FIRST(copy_to_device, calls::deep_copy(ON_CUDA, DEVICE, PINNED))
FIRST(copy_from_device, calls::deep_copy(ON_CUDA, PINNED, DEVICE))
FIRST(copy_transposed, calls::deep_copy(ON_CUDA, DEVICE_LEFT, PINNED_RIGHT))
FIRST(copy_strided, calls::deep_copy(ON_CUDA, STRIDED, some<View<T*, LayoutStride, Kokkos::CudaSpace>>()))
FIRST(copy_mapped, calls::deep_copy(ON_CUDA, DEVICE, MAPPED))
FIRST(copy_write_combined, calls::deep_copy(ON_CUDA, DEVICE, COMBINED))
FIRST(copy_const, calls::deep_copy(ON_CUDA, DEVICE, some<View<T const*, PinnedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>>()))
FIRST(copy_mapped_device, calls::deep_copy(ON_CUDA, some<View<T*, Kokkos::Device<Kokkos::Cuda, MappedSpace>>>(), DEVICE))
FIRST(copy_managed, calls::deep_copy(ON_CUDA, some<View<T*, Kokkos::CudaUVMSpace>>(), PINNED))
FIRST(copy_kokkos_pinned, calls::deep_copy(ON_CUDA, PINNED, some<View<T*, Kokkos::CudaHostPinnedSpace>>()))
FIRST(copy_host_to_host, calls::deep_copy(ON_CUDA, PINNED, MAPPED))
FIRST(copy_pageable, calls::deep_copy(ON_CUDA, PINNED, HOST))
FIRST(copy_default, calls::deep_copy(ON_CUDA, some<View<T*>>(), PINNED))
FIRST(copy_from_default, calls::deep_copy(ON_CUDA, PINNED, some<View<T*>>()))
FIRST(copy_host_instance, calls::deep_copy(ON_HOST, DEVICE, PINNED))
FIRST(copy_blocking, calls::deep_copy(DEVICE, PINNED))
FIRST(copy_blocking_back, calls::deep_copy(PINNED_RIGHT, DEVICE_LEFT))
FIRST(copy_blocking_default, calls::deep_copy(some<View<T*>>(), PINNED))
FIRST(fill, calls::deep_copy(ON_CUDA, PINNED, T()))
FIRST(fill_strided, calls::deep_copy(ON_CUDA, STRIDED, T()))
FIRST(fill_element, calls::deep_copy(ON_CUDA, some<View<T, PinnedSpace>>(), T()))
ONLY_OURS(mirror_cuda, calls::create_mirror(view_alloc(ON_CUDA, some<PinnedSpace>()), DEVICE))
ONLY_OURS(mirror_view_cuda, calls::create_mirror_view(view_alloc(some<PinnedSpace>(), ON_CUDA, WithoutInitializing), DEVICE))
ONLY_OURS(mirror_view_and_copy_cuda, calls::create_mirror_view_and_copy(view_alloc(ON_CUDA, some<PinnedSpace>()), DEVICE_LEFT))

#ifdef KOKKOS_HOST_SPACES_EVERYWHERE
FIRST(everywhere_to_device, calls::deep_copy(ON_CUDA, DEVICE, HOST))
FIRST(everywhere_from_device, calls::deep_copy(ON_CUDA, HOST, DEVICE))
FIRST(everywhere_blocking, calls::deep_copy(DEVICE_LEFT, some<View<T**, LayoutRight, Kokkos::HostSpace>>()))
FIRST(everywhere_blocking_back, calls::deep_copy(HOST, DEVICE))
#endif
#endif
// clang-format on
