// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_HPP
#define KOKKOS_HOST_SPACES_HPP

#include <KokkosHostSpaces/Allocator.hpp>
#include <KokkosHostSpaces/CaptureGuard.hpp>
#include <KokkosHostSpaces/DeepCopyAll.hpp>
#include <KokkosHostSpaces/DeviceView.hpp>
#include <KokkosHostSpaces/ElementSum.hpp>
#include <KokkosHostSpaces/ElementWise.hpp>
#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/Explain.hpp>
#include <KokkosHostSpaces/GraphCopy.hpp>
#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/MappedView.hpp>
#include <KokkosHostSpaces/MultiPath.hpp>
#include <KokkosHostSpaces/ParallelFor.hpp>
#include <KokkosHostSpaces/ParallelReduce.hpp>
#include <KokkosHostSpaces/PinnedDualView.hpp>
#include <KokkosHostSpaces/PinnedMirror.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/Pool.hpp>
#include <KokkosHostSpaces/PreparedCopies.hpp>
#include <KokkosHostSpaces/Registration.hpp>
#include <KokkosHostSpaces/Slice.hpp>
#include <KokkosHostSpaces/Snapshot.hpp>
#include <KokkosHostSpaces/StreamedChain.hpp>
#include <KokkosHostSpaces/StreamedFor.hpp>
#include <KokkosHostSpaces/StreamedReduce.hpp>
#include <KokkosHostSpaces/Version.hpp>
#include <KokkosHostSpaces/WriteCombinedSpace.hpp>

/// \namespace KokkosHostSpaces
/// Kokkos memory spaces for page-locked and mapped host memory.

/// \namespace KokkosHostSpaces::Impl
/// Not for users, except what the declarations of the other namespaces name.

/// \namespace Kokkos
/// Kokkos' own functions for the spaces of this library: overloads with Kokkos' signatures, which
/// are the better match.

#endif
