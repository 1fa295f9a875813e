// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The types that the conformance program is run with.

#ifndef KOKKOS_HOST_SPACES_TESTS_MEMSPACES_SPACES_SPACES_HPP
#define KOKKOS_HOST_SPACES_TESTS_MEMSPACES_SPACES_SPACES_HPP

#include "../KokkosTest.hpp"

template <class Space>
using OnHost = Kokkos::Device<Kokkos::DefaultHostExecutionSpace, Space>;
template <class Space>
using OnDefault = Kokkos::Device<Kokkos::DefaultExecutionSpace, Space>;

#define KOKKOS_HOST_SPACES_ALL khs::PinnedSpace, khs::MappedSpace, khs::WriteCombinedSpace
static_assert(std::is_same_v<khs::Impl::HostSpaces, khs::Impl::SpaceList<KOKKOS_HOST_SPACES_ALL>>);

// Containers and algorithms: host code on one space, and a device on the space that its kernels reach.
#define KOKKOS_HOST_SPACES_DEVICES OnHost<khs::PinnedSpace>, OnDefault<khs::MappedSpace>

#endif
