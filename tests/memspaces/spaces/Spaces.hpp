// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The types that the conformance program is run with.

#ifndef KOKKOS_HOST_SPACES_TESTS_MEMSPACES_SPACES_SPACES_HPP
#define KOKKOS_HOST_SPACES_TESTS_MEMSPACES_SPACES_SPACES_HPP

#include <KokkosHostSpaces.hpp>

#include <type_traits>

namespace khs = KokkosHostSpaces;

template <class Space>
using OnHost = Kokkos::Device<Kokkos::DefaultHostExecutionSpace, Space>;
template <class Space>
using OnDefault = Kokkos::Device<Kokkos::DefaultExecutionSpace, Space>;

#define KOKKOS_HOST_SPACES_ALL khs::PinnedSpace, khs::MappedSpace, khs::WriteCombinedSpace
static_assert(std::is_same_v<khs::Impl::HostSpaces, khs::Impl::SpaceList<KOKKOS_HOST_SPACES_ALL>>);

// Host code on each space, and kernels of a device on the space that it reads and writes.
#define KOKKOS_HOST_SPACES_ON_HOST \
  OnHost<khs::PinnedSpace>, OnHost<khs::MappedSpace>, OnHost<khs::WriteCombinedSpace>
#ifdef KOKKOS_ENABLE_CUDA
#define KOKKOS_HOST_SPACES_DEVICES KOKKOS_HOST_SPACES_ON_HOST, OnDefault<khs::MappedSpace>
#else
#define KOKKOS_HOST_SPACES_DEVICES KOKKOS_HOST_SPACES_ON_HOST
#endif

#endif
