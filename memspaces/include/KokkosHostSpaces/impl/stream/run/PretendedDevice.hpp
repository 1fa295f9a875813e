// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_PRETENDED_DEVICE_HPP
#define KOKKOS_HOST_SPACES_IMPL_PRETENDED_DEVICE_HPP

#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

namespace KokkosHostSpaces::Impl {

/// A launcher that finds, on the host, bodies that go wrong on a GPU. It runs each launch on copies of
/// the rows that a GPU would have, in images of the arrays that have no other memory, and again with
/// other poison in elements that are to be written: a result that differs was computed from poison. A
/// body whose results differ without that (random numbers) is not judged.
/// The launcher throws Error for an access to a row that a GPU would not have, for an element that is
/// not written, and for one that is computed from what was there before.
/// \param job outlives the launcher
StreamLauncher on_pretended_device(StreamJob const& job, StreamLauncher launcher);

}  // namespace KokkosHostSpaces::Impl

#endif
